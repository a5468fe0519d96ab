-- Many verbs of the ledger in one transaction (docs/decisions/0048-postgres-batches.md). It locks users, then tokens,
-- each in the order of their ids; decides one verb after the other on the balances that it locked; then writes each
-- row once. The arrays have one element a verb, in the order in which verbs are decided; no request id comes twice.
--   p_kinds    one letter a verb: s settle, o settle of what is held alone, x release, e extend, h hold
--   p_ids      request ids
--   p_users, p_tokens    for x and e 0: those of the hold
--   p_amounts  units: the charge, what to add, what to hold
--   p_others   h: the least hold; e: the running cost
--   p_drafts   h: the draft
--   p_rows     a JSON array: for each settle the columns of its log row that are not empty, and n, its place from 1
-- The answer is a JSON array in the same order: s and o 1 for charged plus 2 where a hold was found; x and e 1 or 0;
-- h the units held, or "again" where the hold is there, or [reason, user's balance, token's balance, what both allow].
-- Its plans must not depend on how large the tables were when they were made: indexes and nested loops alone.
CREATE OR REPLACE FUNCTION "ledger_batch_1"(
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
  kind text; u int; t int; found_hold boolean; limited boolean; balance bigint; rest bigint; units bigint;
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
    INSERT INTO logs (request_id, user_id, token_id, quota, "type", created_at, username, token_name, channel, channel_name,
      "group", model_name, prompt_tokens, completion_tokens, use_time, is_stream, content, code, params, other, end_reason,
      ip, upstream_request_id, upstream_cost, price_rule, plan_quota, tags, visible)
    SELECT p_ids[x.n], p_users[x.n], p_tokens[x.n], due[x.n], 2, x.created_at, coalesce(x.username, ''),
      coalesce(x.token_name, ''), coalesce(x.channel, 0), coalesce(x.channel_name, ''), coalesce(x."group", ''),
      coalesce(x.model_name, ''), coalesce(x.prompt_tokens, 0), coalesce(x.completion_tokens, 0), coalesce(x.use_time, 0),
      coalesce(x.is_stream, false), coalesce(x.content, ''), coalesce(x.code, ''), coalesce(x.params, ''),
      coalesce(x.other, ''), coalesce(x.end_reason, ''), coalesce(x.ip, ''), coalesce(x.upstream_request_id, ''),
      x.upstream_cost, coalesce(x.price_rule, ''), coalesce(x.plan_quota, 0), coalesce(x.tags, ''), coalesce(x.visible, true)
    FROM json_to_recordset(p_rows::json) AS x (n int, created_at bigint, username text, token_name text, channel bigint,
      channel_name text, "group" text, model_name text, prompt_tokens bigint, completion_tokens bigint, use_time bigint,
      is_stream boolean, content text, code text, params text, other text, end_reason text, ip text,
      upstream_request_id text, upstream_cost bigint, price_rule text, plan_quota bigint, tags text, visible boolean)
    WHERE due[x.n] IS NOT NULL;
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
