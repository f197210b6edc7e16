-- For the parts of before. ClickHouse does it by the way, one part after the other, also after a restart.
ALTER TABLE logs
  MATERIALIZE COLUMN f_app, MATERIALIZE COLUMN l_app,
  MATERIALIZE COLUMN f_host, MATERIALIZE COLUMN l_host,
  MATERIALIZE COLUMN f_env, MATERIALIZE COLUMN l_env,
  MATERIALIZE COLUMN f_namespace, MATERIALIZE COLUMN l_namespace,
  MATERIALIZE COLUMN f_pod, MATERIALIZE COLUMN l_pod,
  MATERIALIZE COLUMN f_container, MATERIALIZE COLUMN l_container,
  MATERIALIZE COLUMN f_job, MATERIALIZE COLUMN l_job,
  MATERIALIZE COLUMN f_status, MATERIALIZE COLUMN l_status,
  MATERIALIZE PROJECTION hours
SETTINGS mutations_sync = 0
