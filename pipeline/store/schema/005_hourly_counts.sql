-- Entries counted for each hour, inside each part: as exact as the part, whatever inserts, retries and merges do. logsql/sql/hourly.ts asks it.
ALTER TABLE logs ADD PROJECTION IF NOT EXISTS hourly (
  SELECT tenant_id, toStartOfInterval(_time, toIntervalNanosecond(3600000000000)) AS hour, stream_id, level, service,
    f_app, f_host, f_env, f_namespace, f_pod, f_container, f_job, count()
  GROUP BY tenant_id, hour, stream_id, level, service, f_app, f_host, f_env, f_namespace, f_pod, f_container, f_job
)
