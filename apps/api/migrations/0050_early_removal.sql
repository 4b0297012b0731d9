-- Up Migration
-- Usage is kept by the minute, later by the hour, later by the day.
comment on column api_usage.minute_ms is 'Start of the minute, hour or day that the count is of, ms.';

-- Down Migration
comment on column api_usage.minute_ms is null;
