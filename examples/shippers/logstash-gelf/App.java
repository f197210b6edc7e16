// Logs with SLF4J and Logback to the GELF path; the shipper is configured in logback.xml next to this file.
// Maven: biz.paluch.logging:logstash-gelf, ch.qos.logback:logback-classic
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

public class App {
  public static void main(String[] args) {
    Logger logger = LoggerFactory.getLogger("orders");
    MDC.put("order", "A-77");
    MDC.put("number", "9223372036854775807");
    logger.info("order created for Zoë ☕");
    MDC.clear();
    logger.error("payment failed", new IllegalStateException("card declined"));
  }
}
