-- Of each session and span of 2^22 ms, some 70 minutes: its times, whether it was deleted, when its first row came, errors, pages, and who and what it was of last. A list finds the sessions of
-- its page by it (docs/adr/0046-session-replay.md); what copies of rows would change is a bound here, so that only "some" or "none" may be asked of sums. Parts of
-- before have it by 031, and are read by their rows until then.
ALTER TABLE replay_chunks
  ADD PROJECTION IF NOT EXISTS sessions (
    SELECT tenant_id, bitShiftRight(toUnixTimestamp64Milli(first), 22), session, min(first), max(last), max(kind), min(arrived), sum(errors), sum(failed_requests), groupUniqArrayArray(urls),
      argMaxIf(user, last, notEmpty(user)), argMaxIf(service, last, notEmpty(service))
    GROUP BY tenant_id, bitShiftRight(toUnixTimestamp64Milli(first), 22), session
  ),
  MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild'
SETTINGS alter_sync = 0
