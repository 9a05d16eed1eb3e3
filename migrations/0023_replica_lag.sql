-- How far a read replica is behind its cluster; only replicas have it.
alter table metrics_minutes add column replica_lag_seconds float8;
alter table metrics_fives add column replica_lag_seconds float8;
alter table metrics_hours add column replica_lag_seconds float8;
alter table metrics_days add column replica_lag_seconds float8;
