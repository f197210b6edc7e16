// Logs with Log4j 2 to the JSON path; the shipper is configured in log4j2.xml next to this file.
// Maven: org.apache.logging.log4j:log4j-core, org.apache.logging.log4j:log4j-layout-template-json
import org.apache.logging.log4j.CloseableThreadContext;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;

public class App {
  public static void main(String[] args) {
    Logger logger = LogManager.getLogger("orders");
    try (CloseableThreadContext.Instance order = CloseableThreadContext.put("order", "A-77")) {
      logger.info("order created for Zoë ☕");
    }
    logger.error("payment failed", new IllegalStateException("card declined"));
  }
}
