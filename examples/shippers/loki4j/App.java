// Logs with SLF4J and Logback to the Loki path; the shipper is configured in logback.xml next to this file.
// Maven: com.github.loki4j:loki-logback-appender, ch.qos.logback:logback-classic
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

public class App {
  public static void main(String[] args) {
    Logger logger = LoggerFactory.getLogger("orders");
    logger.info("order created for Zoë ☕");
    logger.error("payment failed", new IllegalStateException("card declined"));
    ((ch.qos.logback.classic.LoggerContext) LoggerFactory.getILoggerFactory()).stop();
  }
}
