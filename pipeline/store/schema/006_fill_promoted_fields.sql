-- Entries from before get the columns and the counts in the background; until then both are worked out when they are asked for.
ALTER TABLE logs
  MATERIALIZE COLUMN f_app, MATERIALIZE COLUMN f_host, MATERIALIZE COLUMN f_env, MATERIALIZE COLUMN f_namespace,
  MATERIALIZE COLUMN f_pod, MATERIALIZE COLUMN f_container, MATERIALIZE COLUMN f_job, MATERIALIZE COLUMN f_status,
  MATERIALIZE PROJECTION hourly
