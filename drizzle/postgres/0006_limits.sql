-- Limits a minute and calls at once, counted for all instances (docs/decisions/0058-limits-in-the-ledger.md). Not
-- logged: a crash of the server forgets them, which costs one window. Budgets are not here: budget_spend is logged.
CREATE UNLOGGED TABLE "limit_windows" (
	"key" text PRIMARY KEY NOT NULL,
	"used" bigint NOT NULL,
	"ends_at" bigint NOT NULL
) WITH (fillfactor = 70);
--> statement-breakpoint
-- Calls at once, by the instance that serves them; its sweep ends them. Each row says what its instance's newest batch said.
CREATE UNLOGGED TABLE "limit_leases" (
	"key" text NOT NULL,
	"instance_id" text NOT NULL,
	"calls" bigint NOT NULL,
	"batch" bigint NOT NULL,
	PRIMARY KEY ("key", "instance_id")
) WITH (fillfactor = 70);
--> statement-breakpoint
-- Decides many requests for limits, one batch after the other in the whole cluster: the lock is held for this statement
-- and its commit, which waits for no disk because nothing is logged. Milliseconds are the database's.
--   p_keys, p_windows, p_calls       each key once; its window in ms, or 0 and the calls that this instance has now
--   p_changed, p_changes, p_change_ends   corrections: the key's place from 1, what to add, the end of the window meant
--   p_requests, p_key_of, p_amounts, p_limits   the demands, those of one request side by side. An amount of 0 asks for
--                                     the state alone. A request is granted whole or not at all.
-- The answer is [now, [of each request the place of the demand that refuses it, or 0], [used by each demand's key
-- afterwards], [end of its window]].
CREATE FUNCTION "limits_batch_1"(
  p_instance text, p_batch bigint, p_keys text[], p_windows bigint[], p_calls bigint[],
  p_changed int[], p_changes bigint[], p_change_ends bigint[],
  p_requests int[], p_key_of int[], p_amounts bigint[], p_limits bigint[]
) RETURNS text LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off SET jit = off
AS $limits$
DECLARE
  demands CONSTANT int := cardinality(p_key_of);
  now_ms bigint;
  k_used bigint[]; k_ends bigint[];
  touched boolean[] := array_fill(false, ARRAY[cardinality(p_keys)]);
  refused int[] := '{}'; d_used bigint[] := '{}'; d_ends bigint[] := '{}';
  d int := 1; last int; k int; full_at int;
BEGIN
  -- Any fixed number that nothing else of this database locks.
  PERFORM pg_advisory_xact_lock(727301006);
  now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000);

  -- After the lock: what earlier batches wrote is seen. A window never ends later than a new one would: a clock that was
  -- set back, or a shorter window, does not prolong it.
  SELECT array_agg(CASE WHEN k.w = 0 THEN k.calls + coalesce(o.calls, 0) ELSE coalesce(w.used, 0) END ORDER BY k.n),
    array_agg(CASE WHEN k.w = 0 THEN now_ms ELSE least(w.ends_at, now_ms + k.w) END ORDER BY k.n)
  INTO k_used, k_ends
  FROM unnest(p_keys, p_windows, p_calls) WITH ORDINALITY AS k (key, w, calls, n)
  LEFT JOIN limit_windows w ON w.key = CASE WHEN k.w > 0 THEN k.key END AND w.ends_at > now_ms
  LEFT JOIN LATERAL (
    SELECT sum(l.calls)::bigint AS calls FROM limit_leases l
    WHERE l.key = CASE WHEN k.w = 0 THEN k.key END AND l.instance_id <> p_instance
  ) AS o ON true;

  FOR i IN 1..cardinality(p_changed) LOOP
    k := p_changed[i];
    IF k_ends[k] = p_change_ends[i] THEN
      k_used[k] := greatest(0, k_used[k] + p_changes[i]);
      touched[k] := true;
    END IF;
  END LOOP;

  WHILE d <= demands LOOP
    last := d;
    WHILE last < demands AND p_requests[last + 1] = p_requests[d] LOOP last := last + 1; END LOOP;
    full_at := 0;
    FOR i IN d..last LOOP
      IF p_amounts[i] > 0 AND k_used[p_key_of[i]] + p_amounts[i] > p_limits[i] THEN
        full_at := i;
        EXIT;
      END IF;
    END LOOP;
    FOR i IN d..last LOOP
      k := p_key_of[i];
      IF full_at = 0 AND p_amounts[i] > 0 THEN
        k_used[k] := k_used[k] + p_amounts[i];
        p_calls[k] := p_calls[k] + p_amounts[i];
        touched[k] := true;
      END IF;
      d_used := array_append(d_used, k_used[k]);
      d_ends := array_append(d_ends, coalesce(k_ends[k], now_ms + p_windows[k]));
    END LOOP;
    refused := array_append(refused, full_at);
    d := last + 1;
  END LOOP;

  IF true = ANY(touched) THEN
    INSERT INTO limit_windows AS w (key, used, ends_at)
    SELECT k.key, k.used, coalesce(k.ends, now_ms + k.w)
    FROM unnest(p_keys, p_windows, k_used, k_ends, touched) AS k (key, w, used, ends, touched)
    WHERE k.touched AND k.w > 0
    ON CONFLICT (key) DO UPDATE SET used = excluded.used, ends_at = excluded.ends_at;
  END IF;
  IF 0 = ANY(p_windows) THEN
    -- A batch that arrives after a later one of its instance changes nothing.
    INSERT INTO limit_leases AS l (key, instance_id, calls, batch)
    SELECT k.key, p_instance, k.calls, p_batch FROM unnest(p_keys, p_windows, p_calls) AS k (key, w, calls) WHERE k.w = 0
    ON CONFLICT (key, instance_id) DO UPDATE SET calls = excluded.calls, batch = excluded.batch WHERE l.batch < excluded.batch;
  END IF;
  RETURN '[' || now_ms || ',[' || array_to_string(refused, ',') || '],[' || array_to_string(d_used, ',') || '],['
    || array_to_string(d_ends, ',') || ']]';
END
$limits$;
