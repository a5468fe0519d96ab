-- A charge is counted in its hour by the commit that charges, as on SQLite: its row is written once, and never again to
-- say that it was counted (docs/decisions/0048-postgres-batches.md). Channels are shared by all users, so nobody waits for
-- their rows: what they took lies here for a second, without a key, until the fold adds it to their totals.
CREATE TABLE "channel_spend" (
	"channel" bigint NOT NULL,
	"amount" bigint NOT NULL
);
--> statement-breakpoint
-- Room for the next version of a row beside it: none of its indexes is then written.
ALTER TABLE "usage_hourly" SET (fillfactor = 70);
--> statement-breakpoint
-- Adds what lies in channel_spend to the channels' totals.
CREATE FUNCTION "channel_spend_1"() RETURNS void LANGUAGE sql VOLATILE AS $$
  WITH gone AS (
    DELETE FROM channel_spend RETURNING channel, amount
  ), sums AS (
    SELECT channel, sum(amount)::bigint AS amount FROM gone GROUP BY channel
  )
  UPDATE channels SET used_quota = channels.used_quota + sums.amount FROM sums WHERE channels.id = sums.channel
$$;
--> statement-breakpoint
-- Many verbs of the ledger in one transaction (docs/decisions/0048-postgres-batches.md). It locks users, then tokens,
-- each in the order of their ids; decides one verb after the other on the balances that it locked; then writes each
-- row once. The arrays have one element a verb, in the order in which verbs are decided; no request id comes twice.
--   p_kinds    one letter a verb: s settle, o settle of what is held alone, x release, e extend, h hold
--   p_ids      request ids
--   p_users, p_tokens    for x and e 0: those of the hold
--   p_amounts  units: the charge, what to add, what to hold
--   p_others   h: the least hold; e: the running cost
--   p_drafts   h: the draft
--   p_rows     a JSON array: for each settle the columns of its log row that are not empty; n, its place from 1; first_token,
--              milliseconds to its first content; folded, 0 where the fold counts it
-- The answer is a JSON array in the same order: s and o 1 for charged plus 2 where a hold was found; x and e 1 or 0;
-- h the units held, or "again" where the hold is there, or [reason, user's balance, token's balance, what both allow].
-- Its plans must not depend on how large the tables were when they were made: indexes and nested loops alone.
CREATE FUNCTION "ledger_batch_2"(
  p_lane text, p_batch bigint, p_again boolean, p_now bigint, p_instance text,
  p_kinds text, p_ids text[], p_users bigint[], p_tokens bigint[], p_amounts bigint[], p_others bigint[],
  p_drafts text[], p_rows text
) RETURNS text LANGUAGE plpgsql VOLATILE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
SET enable_material = off SET jit = off
AS $ledger$
DECLARE
  units_limit CONSTANT bigint := 4503599627370495;
  charge_limit CONSTANT bigint := 10000000000000;
  verbs CONSTANT int := cardinality(p_ids);
  answers text[] := array_fill(NULL::text, ARRAY[verbs]);
  answer text;
  u_id bigint[]; u_quota bigint[]; u_used bigint[]; u_usable boolean[]; u_calls bigint[];
  t_id bigint[]; t_user bigint[]; t_left bigint[]; t_used bigint[]; t_free boolean[]; t_usable boolean[]; t_charged boolean[];
  h_amount bigint[]; h_token bigint[]; logged boolean[] := array_fill(false, ARRAY[verbs]);
  due bigint[] := array_fill(NULL::bigint, ARRAY[verbs]);
  ended text[] := '{}';
  new_verb int[] := '{}'; new_amount bigint[] := '{}'; new_token bigint[] := '{}';
  more_id text[] := '{}'; more_amount bigint[] := '{}'; more_token bigint[] := '{}'; more_running bigint[] := '{}';
  kind text; u int; t int; oldest bigint; found_hold boolean; limited boolean; balance bigint; rest bigint; units bigint;
BEGIN
  IF 0 = ANY(p_users) THEN
    SELECT array_agg(CASE WHEN v.u = 0 THEN coalesce(h.user_id, 0) ELSE v.u END ORDER BY v.n),
      array_agg(CASE WHEN v.u = 0 THEN coalesce(h.token_id, 0) ELSE v.t END ORDER BY v.n)
    INTO p_users, p_tokens
    FROM unnest(p_ids, p_users, p_tokens) WITH ORDINALITY AS v (r, u, t, n)
    LEFT JOIN holds h ON h.request_id = CASE WHEN v.u = 0 THEN v.r END;
  END IF;

  SELECT array_agg(id), array_agg(quota), array_agg(used_quota), array_agg(usable), array_agg(0)
  INTO u_id, u_quota, u_used, u_usable, u_calls
  FROM (
    SELECT id, quota, used_quota, status = 1 AND deleted_at IS NULL AS usable
    FROM users WHERE id = ANY(p_users) ORDER BY id FOR NO KEY UPDATE
  ) AS locked;
  SELECT array_agg(id), array_agg(user_id), array_agg(remain_quota), array_agg(used_quota), array_agg(unlimited_quota),
    array_agg(usable), array_agg(false)
  INTO t_id, t_user, t_left, t_used, t_free, t_usable, t_charged
  FROM (
    SELECT id, user_id, remain_quota, used_quota, unlimited_quota,
      status = 1 AND deleted_at IS NULL AND (expired_time = -1 OR expired_time > p_now) AS usable
    FROM tokens WHERE id = ANY(p_tokens) ORDER BY id FOR NO KEY UPDATE
  ) AS locked;

  -- After the locks: an earlier attempt at this batch has ended.
  IF p_again THEN
    SELECT l.answers INTO answer FROM ledger_lanes l WHERE l.lane = p_lane AND l.batch = p_batch;
    IF FOUND THEN RETURN answer; END IF;
  END IF;

  SELECT array_agg(h.amount ORDER BY v.n), array_agg(h.token_amount ORDER BY v.n)
  INTO h_amount, h_token
  FROM unnest(p_ids) WITH ORDINALITY AS v (r, n)
  LEFT JOIN holds h ON h.request_id = v.r;
  -- Nearly no row is there already, and a look prepares for each partition of the log. So a first attempt does not look:
  -- the unique key undoes it where it would charge twice, and its repetition looks.
  IF p_again THEN
    SELECT array_agg(l.id IS NOT NULL ORDER BY v.n) INTO logged
    FROM unnest(p_ids) WITH ORDINALITY AS v (r, n)
    LEFT JOIN logs l ON l.request_id = CASE WHEN substr(p_kinds, v.n::int, 1) IN ('s', 'o') THEN v.r END;
  END IF;

  FOR i IN 1..verbs LOOP
    kind := substr(p_kinds, i, 1);
    u := array_position(u_id, p_users[i]);
    t := CASE WHEN u IS NOT NULL AND p_tokens[i] <> 0 THEN array_position(t_id, p_tokens[i]) END;
    found_hold := u IS NOT NULL AND h_amount[i] IS NOT NULL;
    limited := t IS NOT NULL AND NOT t_free[t];
    IF kind IN ('s', 'o', 'x') THEN
      IF found_hold THEN
        ended := array_append(ended, p_ids[i]);
        u_quota[u] := u_quota[u] + h_amount[i];
        IF t IS NOT NULL THEN t_left[t] := t_left[t] + h_token[i]; END IF;
      END IF;
      IF kind = 'x' THEN
        answers[i] := found_hold::int::text;
      ELSIF u IS NULL OR logged[i] OR (kind = 'o' AND NOT found_hold) THEN
        answers[i] := (2 * found_hold::int)::text;
      ELSE
        -- As `chargeable` of call-log.ts.
        units := greatest(0, least(p_amounts[i], charge_limit, units_limit - u_used[u], u_quota[u] + units_limit,
          CASE WHEN limited THEN t_left[t] + units_limit END));
        due[i] := units;
        u_quota[u] := u_quota[u] - units;
        u_used[u] := u_used[u] + units;
        u_calls[u] := u_calls[u] + 1;
        IF t IS NOT NULL THEN
          IF limited THEN t_left[t] := t_left[t] - units; END IF;
          t_used[t] := t_used[t] + units;
          t_charged[t] := true;
        END IF;
        answers[i] := (1 + 2 * found_hold::int)::text;
      END IF;
    ELSIF kind = 'e' THEN
      units := p_amounts[i];
      IF NOT found_hold THEN
        answers[i] := '0';
      ELSE
        IF u_quota[u] < units OR (limited AND t_left[t] < units) THEN
          units := 0;
          answers[i] := '0';
        ELSE
          answers[i] := '1';
        END IF;
        u_quota[u] := u_quota[u] - units;
        IF limited THEN t_left[t] := t_left[t] - units; END IF;
        more_id := array_append(more_id, p_ids[i]);
        more_amount := array_append(more_amount, units);
        more_token := array_append(more_token, CASE WHEN limited THEN units ELSE 0 END);
        more_running := array_append(more_running, p_others[i]);
      END IF;
    ELSE
      balance := CASE WHEN u IS NOT NULL THEN u_quota[u] END;
      rest := least(balance, CASE WHEN limited THEN t_left[t] END);
      units := least(p_amounts[i], greatest(p_others[i], rest / 4));
      answer := CASE
        WHEN u IS NULL OR NOT u_usable[u] THEN 'user_unusable'
        WHEN balance <= 0 OR balance < units THEN 'user_quota'
        WHEN p_tokens[i] <> 0 AND (t IS NULL OR NOT t_usable[t] OR t_user[t] <> p_users[i]) THEN 'token_unusable'
        WHEN limited AND t_left[t] < units THEN 'token_quota'
      END;
      IF answer IS NOT NULL THEN
        answers[i] := '["' || answer || '",' || coalesce(balance, 0) || ','
          || coalesce(CASE WHEN t IS NOT NULL THEN t_left[t] END, 0) || ',' || coalesce(rest, 0) || ']';
      ELSIF found_hold THEN
        answers[i] := '"again"';
      ELSE
        u_quota[u] := u_quota[u] - units;
        IF limited THEN t_left[t] := t_left[t] - units; END IF;
        new_verb := array_append(new_verb, i);
        new_amount := array_append(new_amount, units);
        new_token := array_append(new_token, CASE WHEN limited THEN units ELSE 0 END);
        answers[i] := units::text;
      END IF;
    END IF;
  END LOOP;

  IF cardinality(ended) > 0 THEN
    DELETE FROM holds WHERE request_id = ANY(ended);
  END IF;
  IF p_rows <> '' THEN
    WITH x AS MATERIALIZED (
      SELECT n, p_users[n] AS user_id, p_tokens[n] AS token_id, due[n] AS quota, created_at, coalesce(username, '') AS username,
        coalesce(token_name, '') AS token_name, coalesce(channel, 0) AS channel, coalesce(channel_name, '') AS channel_name,
        coalesce("group", '') AS "group", coalesce(model_name, '') AS model_name, coalesce(prompt_tokens, 0) AS prompt_tokens,
        coalesce(completion_tokens, 0) AS completion_tokens, coalesce(use_time, 0) AS use_time,
        coalesce(is_stream, false) AS is_stream, coalesce(content, '') AS content, coalesce(code, '') AS code,
        coalesce(params, '') AS params, coalesce(other, '') AS other, coalesce(end_reason, '') AS end_reason,
        coalesce(ip, '') AS ip, coalesce(upstream_request_id, '') AS upstream_request_id, upstream_cost,
        coalesce(price_rule, '') AS price_rule, coalesce(plan_quota, 0) AS plan_quota, coalesce(tags, '') AS tags,
        coalesce(visible, true) AS visible, coalesce(folded, 1) AS folded, first_token
      FROM json_to_recordset(p_rows::json) AS r (n int, created_at bigint, username text, token_name text, channel bigint,
        channel_name text, "group" text, model_name text, prompt_tokens bigint, completion_tokens bigint, use_time bigint,
        is_stream boolean, content text, code text, params text, other text, end_reason text, ip text,
        upstream_request_id text, upstream_cost bigint, price_rule text, plan_quota bigint, tags text, visible boolean,
        folded int, first_token bigint)
      WHERE due[n] IS NOT NULL
    ), charged AS (
      INSERT INTO logs (request_id, user_id, token_id, quota, "type", created_at, username, token_name, channel, channel_name,
        "group", model_name, prompt_tokens, completion_tokens, use_time, is_stream, content, code, params, other, end_reason,
        ip, upstream_request_id, upstream_cost, price_rule, plan_quota, tags, visible, folded)
      SELECT p_ids[n], user_id, token_id, quota, 2, created_at, username, token_name, channel, channel_name,
        "group", model_name, prompt_tokens, completion_tokens, use_time, is_stream, content, code, params, other, end_reason,
        ip, upstream_request_id, upstream_cost, price_rule, plan_quota, tags, visible, folded
      FROM x
    ), spent AS (
      INSERT INTO channel_spend (channel, amount)
      SELECT channel, sum(quota) FROM x WHERE folded = 1 AND channel <> 0 AND quota <> 0 GROUP BY channel
    ), counted AS (
      INSERT INTO usage_hourly AS h ("hour", user_id, token_id, channel, model_name, "group", username, "count", quota,
        prompt_tokens, completion_tokens, use_time, upstream_cost, costed_quota, first_token_ms, first_tokens)
      SELECT created_at - created_at % 3600, user_id, token_id, channel, model_name, "group", max(username), count(*), sum(quota),
        sum(prompt_tokens), sum(completion_tokens), sum(use_time), coalesce(sum(upstream_cost), 0),
        coalesce(sum(quota) FILTER (WHERE upstream_cost IS NOT NULL), 0), coalesce(sum(first_token), 0), count(first_token)
      FROM x WHERE folded = 1
      GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, model_name COLLATE "C", "group" COLLATE "C"
      ON CONFLICT ("hour", user_id, token_id, channel, model_name, "group") DO UPDATE SET username = excluded.username,
        "count" = h."count" + excluded."count", quota = h.quota + excluded.quota,
        prompt_tokens = h.prompt_tokens + excluded.prompt_tokens,
        completion_tokens = h.completion_tokens + excluded.completion_tokens, use_time = h.use_time + excluded.use_time,
        upstream_cost = h.upstream_cost + excluded.upstream_cost, costed_quota = h.costed_quota + excluded.costed_quota,
        first_token_ms = h.first_token_ms + excluded.first_token_ms, first_tokens = h.first_tokens + excluded.first_tokens
      RETURNING h."hour"
    )
    SELECT min("hour") INTO oldest FROM counted;
    -- An hour is added up 900 s after its end at the earliest (features/log/sums.ts). From 300 s after it on, a count in it
    -- writes the mark, for which adding up waits; before that, counts wait for nobody.
    IF oldest + 3900 < extract(epoch FROM clock_timestamp()) THEN
      INSERT INTO meta AS m (name, value) VALUES ('usage_summed_until', '0')
      ON CONFLICT (name) DO UPDATE SET value = CASE WHEN m.value::bigint > oldest THEN oldest::text ELSE m.value END;
    END IF;
  END IF;
  UPDATE users SET quota = a.quota, used_quota = a.used_quota, request_count = users.request_count + a.calls
  FROM unnest(u_id, u_quota, u_used, u_calls) AS a (id, quota, used_quota, calls)
  WHERE users.id = a.id AND (a.calls > 0 OR users.quota <> a.quota);
  UPDATE tokens SET remain_quota = a.remain_quota, used_quota = a.used_quota,
    accessed_time = CASE WHEN a.charged THEN p_now ELSE tokens.accessed_time END
  FROM unnest(t_id, t_left, t_used, t_charged) AS a (id, remain_quota, used_quota, charged)
  WHERE tokens.id = a.id AND (a.charged OR tokens.remain_quota <> a.remain_quota);
  IF cardinality(new_verb) > 0 THEN
    INSERT INTO holds (request_id, user_id, token_id, amount, token_amount, created_at, instance_id, draft)
    SELECT p_ids[a.n], p_users[a.n], p_tokens[a.n], a.amount, a.token_amount, p_now, p_instance, p_drafts[a.n]
    FROM unnest(new_verb, new_amount, new_token) AS a (n, amount, token_amount);
  END IF;
  IF cardinality(more_id) > 0 THEN
    UPDATE holds SET amount = holds.amount + a.amount, token_amount = holds.token_amount + a.token_amount, running = a.running
    FROM unnest(more_id, more_amount, more_token, more_running) AS a (request_id, amount, token_amount, running)
    WHERE holds.request_id = a.request_id;
  END IF;

  answer := '[' || array_to_string(answers, ',') || ']';
  IF p_batch = 1 THEN
    DELETE FROM ledger_lanes l WHERE l.changed_at < p_now - 86400;
  END IF;
  INSERT INTO ledger_lanes AS l (lane, batch, answers, changed_at) VALUES (p_lane, p_batch, answer, p_now)
  ON CONFLICT (lane) DO UPDATE SET batch = excluded.batch, answers = excluded.answers, changed_at = excluded.changed_at
  WHERE l.batch < excluded.batch;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'batch % of lane % comes too late', p_batch, p_lane;
  END IF;
  RETURN answer;
END
$ledger$;
