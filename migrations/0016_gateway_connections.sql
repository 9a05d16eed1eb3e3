-- Clients of an instance that have logged in at the gateway.
alter table metrics_minutes add column gateway_connections float8;
alter table metrics_fives add column gateway_connections float8;
alter table metrics_hours add column gateway_connections float8;
alter table metrics_days add column gateway_connections float8;
