ALTER TABLE "requests" ADD COLUMN "archived_months" text[];
ALTER TABLE "archive_requests" ADD COLUMN "has_events" boolean DEFAULT true NOT NULL;