-- Up Migration
-- Usage is kept by the minute, later by the hour, later by the day: what has still to be summed up.
create index api_usage_minutes on api_usage (minute_ms) where minute_ms % 3600000 <> 0;
create index api_usage_hours on api_usage (minute_ms) where minute_ms % 86400000 <> 0;
comment on column api_usage.minute_ms is 'Start of the minute, hour or day that the count is of, ms.';

-- Quotes that were never paid and hold calls: they are deleted sooner than others.
create index requests_expired_large on requests (fill_deadline_ms) where state = 'expired' and octet_length(terms) > 4096;

-- Down Migration
drop index api_usage_minutes, api_usage_hours, requests_expired_large;
