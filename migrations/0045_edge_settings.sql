-- The settings of the edge that the environments of a host follow; null until they were brought to any.
alter table hosts add column edge_settings text;
