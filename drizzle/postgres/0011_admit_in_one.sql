-- Limits and hold of a call that is alone, in one statement (docs/decisions/0058-limits-in-the-ledger.md). First the user,
-- then the token, then the lock of the limits: who waits for a locked row keeps nobody's limits waiting. Its caller turns
-- synchronous_commit off, so the lock of the limits waits for no disk.
--   p_keys, p_windows, p_calls, p_changed, p_changes, p_change_ends   as in limits_batch_1
--   p_amounts, p_limits   the demands of the one request: those of the first keys, in their order
--   p_seconds to p_draft  the hold, as in the statement of a hold alone (single-verb.pg.ts)
-- The answer is [as limits_batch_1 answers, of the hold [reason, user's balance, token's balance, what both allow, held]].
-- The hold is taken where its reason is 'ok' and no limit refuses; limits are counted whatever the hold's reason is.
CREATE FUNCTION "admit_1"(
  p_instance text, p_batch bigint, p_keys text[], p_windows bigint[], p_calls bigint[],
  p_changed int[], p_changes bigint[], p_change_ends bigint[], p_amounts bigint[], p_limits bigint[],
  p_seconds bigint, p_request text, p_user bigint, p_token bigint, p_amount bigint, p_least bigint, p_draft text
) RETURNS text LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off
AS $admit$
DECLARE
  demands CONSTANT int := cardinality(p_amounts);
  of_user bigint; user_usable boolean;
  of_token bigint; token_usable boolean; limited boolean := false;
  rest bigint; held bigint; reason text;
  now_ms bigint; full_at int := 0;
  key_used bigint; key_ends bigint; used bigint[]; ends bigint[]; touched boolean[];
BEGIN
  SELECT quota, status = 1 AND deleted_at IS NULL INTO of_user, user_usable FROM users WHERE id = p_user FOR NO KEY UPDATE;
  IF FOUND AND p_token <> 0 THEN
    SELECT remain_quota, NOT unlimited_quota,
      status = 1 AND deleted_at IS NULL AND user_id = p_user AND (expired_time = -1 OR expired_time > p_seconds)
    INTO of_token, limited, token_usable FROM tokens WHERE id = p_token FOR NO KEY UPDATE;
  END IF;
  rest := least(of_user, CASE WHEN limited THEN of_token END);
  held := least(p_amount, greatest(p_least, rest / 4));
  reason := CASE
    WHEN user_usable IS NOT TRUE THEN 'user_unusable'
    WHEN of_user <= 0 OR of_user < held THEN 'user_quota'
    WHEN p_token <> 0 AND token_usable IS NOT TRUE THEN 'token_unusable'
    WHEN limited AND of_token < held THEN 'token_quota'
    ELSE 'ok'
  END;

  -- The same number as in limits_batch_1. After it, each statement sees what earlier batches wrote.
  PERFORM pg_advisory_xact_lock(727301006);
  now_ms := floor(extract(epoch FROM clock_timestamp()) * 1000);
  FOR k IN 1..cardinality(p_keys) LOOP
    touched[k] := false;
    IF p_windows[k] = 0 THEN
      SELECT coalesce(sum(calls), 0) + p_calls[k] INTO key_used
      FROM limit_leases WHERE key = p_keys[k] AND instance_id <> p_instance;
      key_ends := now_ms;
    ELSE
      SELECT w.used, least(w.ends_at, now_ms + p_windows[k]) INTO key_used, key_ends
      FROM limit_windows w WHERE w.key = p_keys[k] AND w.ends_at > now_ms;
      IF NOT FOUND THEN
        key_used := 0;
        key_ends := now_ms + p_windows[k];
      ELSE
        FOR c IN 1..cardinality(p_changed) LOOP
          IF p_changed[c] = k AND p_change_ends[c] = key_ends THEN
            key_used := greatest(0, key_used + p_changes[c]);
            touched[k] := true;
          END IF;
        END LOOP;
      END IF;
    END IF;
    used[k] := key_used;
    ends[k] := key_ends;
    IF full_at = 0 AND k <= demands AND p_amounts[k] > 0 AND used[k] + p_amounts[k] > p_limits[k] THEN full_at := k; END IF;
  END LOOP;
  FOR k IN 1..cardinality(p_keys) LOOP
    IF full_at = 0 AND k <= demands AND p_amounts[k] > 0 THEN
      used[k] := used[k] + p_amounts[k];
      p_calls[k] := p_calls[k] + p_amounts[k];
      touched[k] := true;
    END IF;
    IF p_windows[k] = 0 THEN
      INSERT INTO limit_leases AS l (key, instance_id, calls, batch) VALUES (p_keys[k], p_instance, p_calls[k], p_batch)
      ON CONFLICT (key, instance_id) DO UPDATE SET calls = excluded.calls, batch = excluded.batch WHERE l.batch < excluded.batch;
    ELSIF touched[k] THEN
      INSERT INTO limit_windows (key, used, ends_at) VALUES (p_keys[k], used[k], ends[k])
      ON CONFLICT (key) DO UPDATE SET used = excluded.used, ends_at = excluded.ends_at;
    END IF;
  END LOOP;

  IF full_at = 0 AND reason = 'ok' THEN
    IF held > 0 THEN
      UPDATE users SET quota = quota - held WHERE id = p_user;
      IF limited THEN UPDATE tokens SET remain_quota = remain_quota - held WHERE id = p_token; END IF;
    END IF;
    INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id, draft)
    VALUES (p_request, p_user, p_token, held, CASE WHEN limited THEN held ELSE 0 END, p_seconds, p_instance, p_draft);
  END IF;
  RETURN '[[' || now_ms || ',[' || full_at || '],[' || array_to_string(used[1:demands], ',') || '],['
    || array_to_string(ends[1:demands], ',') || ']],["' || reason || '",' || coalesce(of_user, 0) || ','
    || coalesce(of_token, 0) || ',' || coalesce(rest, 0) || ',' || coalesce(held, 0) || ']]';
END
$admit$;
