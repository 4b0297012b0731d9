ALTER TABLE "rail_cursors" ADD COLUMN "checked_cursor" text;
ALTER TABLE "rail_cursors" ADD COLUMN "checked_seconds" bigint;