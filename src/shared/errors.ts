/**
 * Every error that Weir raises itself: code -> status, owner, text. Three renderings are derived: the /api envelope (in
 * the caller's language), tRPC (code + values) and the relay (the error object of the caller's dialect).
 *
 * `owner` says who can fix it: caller, operator, upstream, us. `status` is the HTTP status on /v1 and tRPC; /api
 * answers 200 except where `api_status` says otherwise. Texts are templates (`fillText`).
 */
import { fillText, type Lang, type Text } from "./text";

export type Owner = "caller" | "operator" | "upstream" | "us";

export interface ErrorFact {
  status: number;
  owner: Owner;
  text: Text;
  /** HTTP status of the /api response; 200 when absent. */
  api_status?: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 503;
}

const fact = (status: number, owner: Owner, zh: string, en: string, api_status?: ErrorFact["api_status"]): ErrorFact => ({
  status,
  owner,
  text: { zh, en },
  ...(api_status ? { api_status } : {}),
});

export const errors = {
  // Any route
  invalid_parameter: fact(400, "caller", "无效的参数：{detail}", "Invalid parameter: {detail}"),
  bad_json: fact(400, "caller", "请求体不是合法的 JSON", "The request body is not valid JSON", 400),
  json_needed: fact(415, "caller", "请求体必须是 JSON，并带上 Content-Type: application/json", "The body must be JSON, sent with Content-Type: application/json", 415),
  cross_site: fact(403, "caller", "拒绝来自其他网站的请求", "Requests from other sites are refused", 403),
  origin_unknown: fact(403, "operator",
    "服务器不认识 {origin} 这个地址，因此拒绝了请求。如果这就是控制台的地址：请让反向代理传递 Host（proxy_set_header Host $http_host），或设置环境变量 WEIR_SERVER_ADDRESS={origin} 后重启，或把它填入系统设置的“服务器地址”",
    "The server does not know {origin} as an address of its own, so the request was refused. If that is where the console is opened: let the reverse proxy pass Host on (proxy_set_header Host $http_host), or set WEIR_SERVER_ADDRESS={origin} and restart, or enter it as the server address in the settings", 403),
  host_invalid: fact(400, "caller", "Host 请求头无效", "The Host header is invalid", 400),
  user_header_missing: fact(403, "caller", "请求缺少 New-Api-User 请求头", "The New-Api-User header is missing", 403),
  body_too_large: fact(413, "caller", "请求体过大，最多 {limit}", "The request body is too large, {limit} at most", 413),
  text_too_long: fact(400, "caller", "参数 {name} 过长，最多 {max} 个字符", "'{name}' is too long: {max} characters at most"),
  body_unpacks_too_far: fact(413, "caller", "请求体的压缩比过高，解压后最多为压缩前的 {ratio} 倍", "The request body unpacks to more than {ratio} times its size", 413),
  body_too_complex: fact(
    400, "caller",
    "请求体的结构过于复杂，最多 {containers} 个对象和数组、{strings} 个字符串、{names} 个不同的字段名、{depth} 层嵌套",
    "The structure of the request body is too complex: at most {containers} objects and arrays, {strings} strings, {names} different names and {depth} levels", 400,
  ),
  not_found: fact(404, "caller", "接口不存在：{method} {path}", "No such route: {method} {path}", 404),
  not_signed_in: fact(401, "caller", "未登录或登录已过期，请重新登录！", "You are not signed in, or your session has expired.", 401),
  user_header_mismatch: fact(401, "caller", "New-Api-User 请求头与登录用户不符", "The New-Api-User header does not match the signed-in user", 401),
  access_token_invalid: fact(401, "caller", "无效的系统访问令牌", "Invalid system access token"),
  access_token_not_supported: fact(400, "caller", "操练场只接受登录会话，不接受系统访问令牌", "The playground takes a signed-in session, not a system access token", 400),
  access_token_refused: fact(403, "caller", "系统访问令牌不能修改密码、两步验证、通行密钥、绑定、邮箱或令牌自身，也不能删除账号，请登录控制台操作", "A system access token changes no password, second factor, passkey, binding, e-mail address or access token and deletes no account; sign in to the console"),
  forbidden: fact(403, "caller", "无权进行此操作，权限不足", "You have no permission for this"),
  too_many_requests: fact(429, "caller", "请求次数过多，请稍后再试！", "Too many requests, please try again later", 429),
  idempotency_running: fact(409, "caller", "使用同一个 Idempotency-Key 的请求仍在处理中，请稍后再试", "The request with this Idempotency-Key is still running; try again shortly", 409),
  idempotency_answer_lost: fact(409, "us", "使用这个 Idempotency-Key 的请求已经执行，但它的响应已丢失，请刷新页面查看结果", "The request with this Idempotency-Key was carried out, but its answer is lost; reload to see what it did", 409),
  internal: fact(500, "us", "服务器内部错误，请联系管理员", "Internal server error, please contact the administrator", 500),
  database_unavailable: fact(503, "operator", "数据库暂时不可用，请稍后再试", "The database is unavailable, please try again later", 503),
  caller_left: fact(400, "caller", "请求发出之前连接已断开（连接关闭，或在收到响应之前又发送了一个请求）", "The connection was lost before the call was made (it was closed, or a second request was sent on it before the response)"),
  draining: fact(503, "operator", "服务正在重启，请稍后再试", "The service is restarting, please try again later", 503),

  // Set-up and sign-in
  setup_done: fact(403, "caller", "系统已经完成初始化", "The system has already been set up", 403),
  setup_code_wrong: fact(403, "caller", "初始化码错误，请打开服务启动时输出的链接", "Wrong set-up code; open the link that the server printed when it started", 403),
  setup_needed: fact(503, "operator", "系统尚未初始化，请先在控制台完成设置", "Weir is not set up yet; finish the set-up in the console first"),
  username_length: fact(400, "caller", "用户名长度必须为 1 到 {max} 个字符", "A username has 1 to {max} characters"),
  password_too_short: fact(400, "caller", "密码长度不得小于 8 位！", "The password must have at least 8 characters!"),
  password_too_long: fact(400, "caller", "密码长度不得超过 {max} 位！", "The password must have at most {max} characters!"),
  passwords_differ: fact(400, "caller", "两次输入的密码不一致", "The two passwords do not match"),
  credentials_missing: fact(400, "caller", "请输入用户名和密码！", "Please enter username and password!"),
  credentials_wrong: fact(400, "caller", "用户名或密码错误，或用户已被封禁", "Wrong username or password, or the account is banned"),
  user_banned: fact(403, "caller", "该用户已被封禁", "This account is banned"),
  password_login_disabled: fact(403, "operator", "管理员关闭了密码登录", "Password sign-in has been disabled by the administrator"),
  username_characters: fact(400, "caller", "用户名不能包含 @ 或控制字符", "A username has no @ and no control characters"),
  registration_disabled: fact(403, "operator", "管理员关闭了新用户注册", "The administrator has switched registration off"),
  password_register_disabled: fact(403, "operator", "管理员关闭了密码注册，请使用其他方式注册", "The administrator has switched registration by password off; please use another way"),
  verification_missing: fact(400, "caller", "请输入邮箱地址和验证码！", "Please enter the e-mail address and the verification code!"),
  verification_code_wrong: fact(400, "caller", "验证码错误或已过期", "The verification code is wrong or has expired"),
  email_taken: fact(400, "caller", "该邮箱已被使用", "This e-mail address is already in use"),
  email_domain_denied: fact(400, "operator", "管理员不允许使用该域名的邮箱", "The administrator does not accept e-mail addresses of this domain"),
  email_alias_denied: fact(400, "operator", "管理员不允许使用邮箱别名，地址 @ 之前不能包含 + 或 .", "The administrator does not accept e-mail aliases: no + and no . before the @"),
  mail_too_soon: fact(400, "caller", "发送过于频繁，请 {retry_after} 秒后再试", "Too many mails; try again in {retry_after} s"),
  reset_link_invalid: fact(400, "caller", "重置链接无效或已过期，请重新申请", "The reset link is invalid or has expired; please ask for another one"),
  server_address_missing: fact(400, "operator", "管理员尚未设置服务器地址，无法发送重置邮件", "The administrator has not set the server's address, so no reset mail can be sent"),
  turnstile_missing: fact(400, "caller", "请稍等几秒，正在检查环境", "Please wait a few seconds while your browser is checked"),
  turnstile_failed: fact(400, "caller", "Turnstile 校验失败，请刷新页面后重试！", "The Turnstile check failed; reload the page and try again!"),
  step_up_required: fact(403, "caller", "请先验证身份", "Please prove that it is you first"),
  password_wrong: fact(400, "caller", "密码错误", "Wrong password"),
  push_code_invalid: fact(400, "caller", "二维码已失效，请在电脑上重新获取", "This QR code is not valid any more; get another one on your computer"),
  phone_not_found: fact(404, "caller", "该手机已解绑", "This phone is not bound any more"),
  session_not_found: fact(404, "caller", "该登录已失效", "This session has ended already"),
  username_taken: fact(400, "caller", "用户名已被使用", "This username is already in use"),

  // Sign-in by a provider
  identity_provider_unknown: fact(404, "caller", "不支持的登录方式", "There is no such way to sign in"),
  identity_provider_off: fact(403, "operator", "管理员未开启通过 {provider} 登录", "Sign-in by {provider} has not been enabled by the administrator"),
  identity_state_wrong: fact(403, "caller", "登录请求已失效，或不是从此浏览器发起的，请重试", "This sign-in has expired or was begun in another browser; please try again", 403),
  identity_refused: fact(403, "caller", "{provider} 未授权：{detail}", "{provider} has not authorised this: {detail}"),
  identity_provider_failed: fact(502, "operator", "无法通过 {provider} 确认身份：{detail}", "{provider} did not confirm who you are: {detail}"),
  identity_trust_too_low: fact(403, "operator", "您的 LinuxDO 信任等级为 {level}，至少需要 {least}", "Your LinuxDO trust level is {level}; at least {least} is needed"),
  identity_already_bound: fact(400, "caller", "该 {provider} 账户已被绑定", "This {provider} account is already bound"),
  identity_other_bound: fact(400, "caller", "您已绑定另一个 {provider} 账户，请先解绑", "Another {provider} account is bound to yours; unbind it first"),
  identity_not_bound: fact(404, "caller", "尚未绑定 {provider}", "{provider} is not bound"),
  identity_last: fact(400, "caller", "这是您唯一的登录方式，不能解绑；请先设置密码或绑定其他账户", "This is your only way to sign in; set a password or bind another account first"),
  wechat_code_missing: fact(400, "caller", "请输入验证码！", "Please enter the code!"),
  wechat_code_wrong: fact(400, "caller", "验证码错误或已过期", "The code is wrong or has expired"),
  telegram_invalid: fact(403, "caller", "无效的 Telegram 登录信息，请重新登录", "These Telegram facts are not valid; please sign in again"),

  // Second factors
  factor_code_missing: fact(400, "caller", "请输入验证码！", "Please enter the code!"),
  factor_code_wrong: fact(400, "caller", "验证码错误或已被使用", "The code is wrong or has been used"),
  second_step_expired: fact(403, "caller", "登录已超时或尝试次数过多，请重新登录", "This sign-in took too long or too many tries; please sign in again"),
  totp_already_on: fact(400, "caller", "两步验证已启用", "One-time codes are already switched on"),
  totp_not_begun: fact(400, "caller", "请先扫描二维码", "Scan the QR code first"),
  passkey_expired: fact(400, "caller", "操作已超时，请重试", "This took too long; please try again"),
  passkey_refused: fact(400, "caller", "无法验证此通行密钥", "This passkey could not be verified"),
  passkey_known: fact(400, "caller", "此通行密钥已添加", "This passkey has been added already"),
  passkey_not_found: fact(404, "caller", "通行密钥不存在", "No such passkey"),
  passkeys_full: fact(400, "caller", "最多添加 {max} 个通行密钥", "At most {max} passkeys can be added"),

  // Hierarchy
  root_protected: fact(403, "caller", "超级管理员不能被禁用、删除或降级", "A super administrator cannot be disabled, deleted or demoted"),
  role_too_high: fact(403, "caller", "无法创建权限大于等于自己的用户", "You cannot create a user with permission at or above your own"),
  same_or_higher_level: fact(403, "caller", "无权访问同级或更高级用户", "You cannot act on users of the same or a higher level"),
  promote_needs_root: fact(403, "caller", "普通管理员无法提升其他用户为管理员", "An administrator cannot promote others to administrator"),
  user_not_found: fact(404, "caller", "用户不存在", "No such user"),
  user_deleted: fact(400, "caller", "该用户已注销，无法恢复", "This account was deleted and cannot be brought back"),
  user_already_admin: fact(400, "caller", "该用户已经是管理员", "This user already is an administrator"),
  user_already_ordinary: fact(400, "caller", "该用户已经是普通用户", "This user already is an ordinary user"),
  user_already_enabled: fact(400, "caller", "该用户已经是启用状态", "This user is already enabled"),
  user_already_disabled: fact(400, "caller", "该用户已经被封禁", "This user is already banned"),
  user_no_factors: fact(400, "caller", "该用户没有开启两步验证，也没有通行密钥", "This user has neither two-step verification nor passkeys"),
  user_locked: fact(400, "caller", "该用户已被锁定，只能删除", "This user is locked and can only be deleted"),
  user_action_unknown: fact(400, "caller", "未知的操作", "Unknown action"),
  user_fields_missing: fact(400, "caller", "用户名和密码不能为空！", "Username and password must not be empty!"),
  user_quota_invalid: fact(400, "caller", "额度必须是整数", "The quota must be a whole number"),
  user_quota_negative: fact(400, "caller", "额度不足以扣减，当前余额：{balance}", "The balance does not cover this deduction; balance: {balance}"),
  user_group_unknown: fact(400, "caller", "分组 {group} 不存在", "There is no group {group}"),

  // Options
  option_unknown: fact(400, "caller", "未知的设置项：{key}", "Unknown option: {key}"),
  option_invalid: fact(400, "caller", "{label}：{detail}", "{label}: {detail}"),
  option_needs: fact(400, "operator", "无法启用，请先填写：{needs}", "Cannot be enabled before these are filled in: {needs}"),
  price_import_failed: fact(502, "operator", "无法从该地址读取价格：{detail}", "No prices could be read from that address: {detail}"),
  price_import_empty: fact(400, "caller", "内容不是价格表", "This is not a list of prices"),
  price_feed_unknown: fact(404, "caller", "没有名为 {name} 的价格源", "There is no price feed named {name}"),
  report_not_found: fact(404, "caller", "没有这份报告", "There is no such report"),
  price_proposal_gone: fact(409, "caller", "这些价格变更已处理过", "These price changes have been decided already"),
  price_proposal_stale: fact(409, "caller", "{model} 的价格在此期间已改变，请重新读取价格源", "The price of {model} has changed meanwhile: read the feed again"),
  ratios_not_published: fact(403, "operator", "管理员没有公开倍率接口", "The operator does not publish the price tables"),

  // Mail and notices
  mail_not_configured: fact(400, "operator", "管理员尚未配置发信服务器", "The administrator has not set up a mail server"),
  mail_address_invalid: fact(400, "caller", "邮箱地址无效", "This is not an e-mail address"),
  notice_address_invalid: fact(400, "caller", "通知地址必须以 http:// 或 https:// 开头", "The address for notices must start with http:// or https://"),
  notice_unreachable: fact(400, "caller", "尚未填写可用的通知地址，或管理员尚未配置发信服务器", "There is no address to send notices to yet, or the administrator has not set up a mail server"),
  notice_failed: fact(502, "caller", "通知发送失败：{detail}", "The notice could not be sent: {detail}"),
  mail_test_failed: fact(502, "operator", "测试邮件发送失败：{detail}", "The test mail could not be sent: {detail}"),
  mail_failed: fact(502, "operator", "邮件发送失败，请稍后再试或联系管理员", "The mail could not be sent; try again later or ask the administrator"),

  // Channels
  channel_not_found: fact(404, "caller", "渠道未找到，请刷新页面后重试。", "Channel not found. Refresh the page and try again."),
  channel_name_and_key: fact(400, "caller", "请填写名称和密钥", "Please fill in the name and the key"),
  channel_models_missing: fact(400, "caller", "请至少选择一个模型", "Please select at least one model"),
  channel_mapping_invalid: fact(400, "caller", "模型映射必须是合法的 JSON 格式！", "The model mapping must be valid JSON!"),
  channel_json_invalid: fact(400, "caller", "{field} 必须是合法的 JSON 格式！", "{field} must be valid JSON!"),
  channel_setting_invalid: fact(400, "caller", "渠道额外设置 {member} {detail}", "The channel's setting {member} {detail}"),
  channel_mapping_loop: fact(400, "caller", "模型映射形成循环：{models}", "The model mapping goes in a circle: {models}"),
  channel_status_mapping_invalid: fact(400, "caller", "状态码映射 {from} 无效：两边都应为 100 到 599", "The status code mapping of {from} is invalid: both sides must be from 100 to 599"),
  channel_has_one_key: fact(400, "caller", "该渠道只有一个密钥，请先改为多密钥模式", "This channel has one key; change its key mode first"),
  channel_keys_too_many: fact(400, "caller", "一个渠道最多 {max} 个密钥", "A channel has at most {max} keys"),
  instance_not_found: fact(404, "caller", "实例不存在或已停止", "No such instance, or it has ended"),
  channel_key_known: fact(400, "caller", "渠道已有这个密钥", "The channel has this key already"),
  channel_key_not_found: fact(404, "caller", "渠道没有这个密钥，请选择要替换的密钥", "The channel has no such key; choose the one to replace"),
  channel_key_test_failed: fact(400, "caller", "新密钥没有通过测试，渠道没有改变：{detail}", "The new key failed its test, and the channel is as it was: {detail}"),
  channel_changed: fact(409, "caller", "渠道刚刚被修改，请重试", "The channel has just been changed; try again"),
  channel_key_last: fact(400, "caller", "不能删除渠道的最后一个密钥", "A channel's last key cannot be removed"),
  channel_keys_left: fact(400, "caller", "渠道仍有多个密钥，请先删除其余密钥或填写一个新密钥", "The channel still has several keys; remove the others or enter a new one first"),
  codex_refresh_refused: fact(502, "operator", "刷新令牌已失效（{detail}），请重新登录 Codex 并粘贴新的 auth.json", "The refresh token is no longer accepted ({detail}); sign in to Codex again and paste the new auth.json"),
  channel_keys_all_disabled: fact(502, "operator", "所有密钥都已被禁用：{detail}", "All its keys are disabled: {detail}"),
  channel_type_unknown: fact(400, "caller", "未知的渠道类型：{type}", "Unknown channel type: {type}"),
  channel_key_invalid: fact(400, "caller", "渠道密钥格式错误：{detail}", "The channel's key has the wrong format: {detail}"),
  channel_key_required: fact(400, "caller", "渠道请求的去向（地址或代理）将改变，请同时填写密钥", "The channel's calls would go elsewhere (address or proxy); enter the key as well"),
  channel_headers_required: fact(400, "caller", "渠道请求的去向（地址或代理）将改变，请重新填写请求头覆盖中的密文值", "The channel's calls would go elsewhere (address or proxy); enter the secret values of the header override again"),
  channel_key_reveal_off: fact(403, "operator", "超级管理员未允许查看渠道密钥", "The super administrator has not allowed channel keys to be revealed"),
  channel_key_is_id: fact(400, "caller", "渠道密钥不能是渠道编号，请重新复制渠道", "A channel's key cannot be a channel id; copy the channel again"),
  channel_base_url_missing: fact(400, "caller", "该类型渠道必须填写接口地址", "This channel type needs a base URL"),
  channel_base_url_invalid: fact(400, "caller", "接口地址必须以 http:// 或 https:// 开头", "The base URL must start with http:// or https://"),
  priority_not_integer: fact(400, "caller", "优先级必须是整数！", "Priority must be an integer!"),
  priority_too_low: fact(400, "caller", "优先级不能小于 -999", "Priority cannot be below -999"),
  weight_invalid: fact(400, "caller", "权重必须是非负整数！", "Weight must be a non-negative integer!"),
  channel_test_unsupported: fact(400, "operator", "该类型渠道不支持测试", "Channels of this type cannot be tested"),
  channel_test_failed: fact(502, "upstream", "测试失败：{detail}", "The test failed: {detail}"),
  fetch_models_failed: fact(502, "upstream", "获取模型列表失败：{detail}", "Failed to fetch the model list: {detail}"),
  fetch_models_unsupported: fact(400, "operator", "该类型渠道不支持获取模型列表", "This channel type has no model list to fetch"),
  fetch_models_key_missing: fact(400, "caller", "请填写密钥", "Please fill in the key"),
  channel_key_unreadable: fact(500, "operator", "渠道密钥无法解密，请检查 WEIR_SECRET 后重新填写密钥", "The channel's key cannot be decrypted; check WEIR_SECRET and enter the key again"),
  address_forbidden: fact(400, "caller", "不允许访问该地址", "That address may not be called"),
  channel_batch_too_large: fact(400, "caller", "一次最多添加 {max} 个渠道", "At most {max} channels can be added at once"),
  tag_nothing_changed: fact(400, "caller", "没有任何修改！", "Nothing was changed!"),
  tag_empty: fact(400, "caller", "标签不能为空！", "The tag cannot be empty!"),
  tag_not_found: fact(404, "caller", "标签不存在：{tag}", "No such tag: {tag}"),
  batch_delete_empty: fact(400, "caller", "请先选择要删除的通道！", "Please select the channels to delete first!"),
  batch_tag_empty: fact(400, "caller", "请先选择要设置标签的通道！", "Please select the channels to tag first!"),
  batch_empty: fact(400, "caller", "请先选择通道！", "Please select channels first!"),
  channel_test_running: fact(400, "caller", "测试已在运行中，请稍后再试", "A test of all channels is already running"),
  channel_balance_running: fact(400, "caller", "余额更新已在运行中，请稍后再试", "The balances are already being updated"),
  channel_balance_unsupported: fact(400, "operator", "该类型渠道不支持查询余额", "The balance of this channel type cannot be asked for (not supported)"),
  channel_balance_failed: fact(502, "upstream", "查询余额失败：{detail}", "The balance could not be read: {detail}"),
  channel_too_slow: fact(502, "upstream", "响应时间 {seconds} 秒，超过阈值 {limit} 秒", "It answered after {seconds} s; the limit is {limit} s"),
  channel_call_refused: fact(502, "upstream", "上游拒绝服务（状态码 {status}）：{detail}", "The upstream refused service (status {status}): {detail}"),
  channel_balance_used_up: fact(502, "operator", "余额不足：{balance}", "The balance is used up: {balance}"),
  channel_limit_invalid: fact(400, "caller", "渠道设置中的 {field} 必须是不小于 0 的整数", "{field} in the channel's settings must be a whole number of at least 0"),
  channel_database_inconsistent: fact(500, "operator", "数据库一致性已被破坏，请联系管理员", "The database is inconsistent; please contact the administrator"),

  // Tokens
  token_not_found: fact(404, "caller", "令牌不存在", "No such token"),
  token_name_missing: fact(400, "caller", "请输入令牌名称！", "Please enter a name for the token!"),
  token_name_too_long: fact(400, "caller", "令牌名称过长，最多 {max} 个字符", "The token's name is too long, {max} characters at most"),
  token_quota_invalid: fact(400, "caller", "额度必须是非负整数！", "The quota must be a non-negative integer!"),
  token_expiry_invalid: fact(400, "caller", "过期时间格式错误！", "The expiry time has the wrong format!"),
  token_count_invalid: fact(400, "caller", "数量必须是 1 到 100 的整数！", "The quantity must be an integer from 1 to 100!"),
  token_limit_reached: fact(400, "caller", "每个用户最多 {max} 个令牌，已有 {count} 个；请先删除不用的令牌", "A user may have {max} tokens at most and there are {count}; delete those that are not used"),
  token_ip_invalid: fact(400, "caller", "第 {line} 行不是合法的 IP 或网段：{value}", "Line {line} is not an address or network: {value}"),
  token_group_forbidden: fact(400, "caller", "无权使用分组 {group}", "You may not use group {group}"),
  token_status_invalid: fact(400, "caller", "只能启用或禁用令牌", "A token can only be enabled or disabled"),
  token_enable_expired: fact(400, "caller", "令牌已过期，无法启用，请先修改令牌过期时间，或者设置为永不过期", "The token has expired; extend its expiry before you enable it"),
  token_enable_exhausted: fact(400, "caller", "令牌可用额度已用尽，无法启用，请先修改令牌剩余额度，或者设置为无限额度", "The token's quota is used up; raise it before you enable the token"),
  token_models_missing: fact(400, "caller", "启用模型限制时请至少选择一个模型", "Choose at least one model when model limits are on"),

  // Redemption codes
  redemption_key_missing: fact(400, "caller", "请输入兑换码！", "Please enter a redemption code!"),
  redemption_invalid: fact(400, "caller", "无效的兑换码，或该兑换码已被使用", "This redemption code is invalid or has been used"),
  redemption_expired: fact(400, "caller", "该兑换码已过期", "This redemption code has expired"),
  redemption_not_found: fact(404, "caller", "兑换码不存在", "No such redemption code"),
  redemption_name_too_long: fact(400, "caller", "名称过长，最多 {max} 个字符", "The name is too long, {max} characters at most"),
  redemption_quota_invalid: fact(400, "caller", "额度必须是正整数！", "The quota must be a positive integer!"),
  redemption_count_invalid: fact(400, "caller", "数量必须是 1 到 100 的整数！", "The quantity must be an integer from 1 to 100!"),
  redemption_expiry_invalid: fact(400, "caller", "过期时间必须晚于现在", "The expiry time must lie in the future"),
  redemption_status_invalid: fact(400, "caller", "只能启用或禁用兑换码", "A redemption code can only be enabled or disabled"),
  redemption_already_used: fact(400, "caller", "兑换码已被使用，不能再修改", "The redemption code has been used and cannot be changed"),
  redemption_not_editable: fact(400, "caller", "只能修改未使用的兑换码", "Only unused redemption codes can be edited"),

  // Online top-up
  topup_disabled: fact(400, "operator", "管理员未开启在线充值！", "The administrator has not enabled online top-up!"),
  topup_amount_invalid: fact(400, "caller", "充值数量必须是正整数！", "The amount must be a positive whole number!"),
  topup_too_small: fact(400, "caller", "充值数量不能小于{minimum}", "The amount cannot be below {minimum}"),
  topup_too_large: fact(400, "caller", "充值数量不能大于{maximum}", "The amount cannot be above {maximum}"),
  topup_money_too_small: fact(400, "operator", "充值金额过低，无法支付", "The amount to pay is too small to be paid"),
  payment_method_unknown: fact(400, "caller", "支付方式不存在", "No such payment method"),
  callback_address_missing: fact(400, "operator", "请先填写服务器地址或回调地址", "The server address or the callback address must be set first"),
  payment_gateway_failed: fact(502, "upstream", "拉起支付失败：{detail}", "The payment could not be started: {detail}"),
  orders_pending_too_many: fact(400, "caller", "未支付的订单过多，请先完成支付或等待订单过期", "Too many unpaid orders; pay them or wait until they expire"),
  order_not_found: fact(404, "caller", "订单不存在", "No such order"),
  order_not_payable: fact(400, "caller", "订单状态为“{status}”，不能补单", "The order is {status} and cannot be completed"),

  // Invitations
  transfer_too_small: fact(400, "caller", "划转金额最低为 {minimum}", "The smallest transfer is {minimum}"),
  transfer_invalid: fact(400, "caller", "划转额度必须是正整数", "The transfer must be a positive whole number"),
  invite_quota_insufficient: fact(400, "caller", "邀请额度不足，可用：{balance}", "Not enough invitation earnings; available: {balance}"),
  withdrawal_too_small: fact(400, "caller", "提现金额最低为 {minimum}", "The smallest withdrawal is {minimum}"),
  withdrawal_invalid: fact(400, "caller", "提现额度必须是正整数", "The withdrawal must be a positive whole number"),
  withdrawal_account_missing: fact(400, "caller", "请填写收款账户", "Please say where the money goes"),
  withdrawal_account_too_long: fact(400, "caller", "收款账户最多 {max} 个字符", "The account has at most {max} characters"),
  withdrawal_not_found: fact(404, "caller", "提现申请不存在", "No such withdrawal"),
  withdrawal_settled: fact(400, "caller", "该提现申请已处理", "This withdrawal has been settled already"),

  // Logs
  log_not_found: fact(404, "caller", "日志不存在", "No such log row"),
  refund_own: fact(403, "caller", "不能为自己的调用退款", "You cannot refund your own calls"),
  refund_exceeds: fact(400, "caller", "退款不能超过这次调用尚未退还的 {left} 额度", "A refund is at most what is left of the charge: {left} units"),
  refund_undo_late: fact(400, "caller", "退款只能在 {seconds} 秒内撤销", "A refund can be undone for {seconds} seconds"),
  refund_undone: fact(400, "caller", "这笔退款已经撤销", "This refund has been undone already"),
  refund_undo_insufficient: fact(400, "caller", "用户或令牌的余额已不足以撤销这笔退款", "The balance of the user or the token no longer covers undoing this refund"),
  history_not_found: fact(404, "caller", "修改记录不存在", "No such change"),
  history_not_restorable: fact(400, "caller", "这次修改不能恢复：它没有留下可以写回的值", "This change cannot be taken back: it left no value that could be put back"),
  dashboard_off: fact(403, "operator", "管理员关闭了数据看板", "The administrator has switched the data dashboard off"),
  range_too_long: fact(400, "caller", "时间跨度不能超过 {days} 天", "The range may span {days} days at most"),
  log_cleaning_running: fact(400, "caller", "日志清理已在运行中，请稍后再试", "The log is already being cleaned"),
  log_tail_full: fact(429, "caller", "实时日志连接数过多，请关闭其他页面后再试", "Too many live logs are open; close another page and try again", 429),

  // Relay: the caller's side
  token_missing: fact(401, "caller", "未提供令牌", "No API key was provided", 401),
  token_invalid: fact(401, "caller", "无效的令牌", "Invalid API key"),
  token_key_unknown: fact(409, "caller", "此令牌是迁移来的，第一次使用后才能查看密钥", "This token was imported: its key can be shown once it has been used"),
  token_expired: fact(401, "caller", "该令牌已过期", "This API key has expired"),
  token_exhausted: fact(429, "caller", "该令牌额度已用尽", "This API key's quota is used up"),
  token_disabled: fact(401, "caller", "该令牌已被禁用", "This API key is disabled"),
  token_ip_denied: fact(403, "caller", "您的 IP 不在令牌允许访问的列表中", "Your address may not use this API key"),
  token_model_denied: fact(403, "caller", "该令牌无权访问模型 {model}", "This API key has no access to model {model}"),
  token_channel_denied: fact(403, "caller", "普通用户不支持指定渠道", "Only administrators may pick a channel"),
  group_denied: fact(403, "caller", "无权使用分组 {group}", "You have no access to group {group}"),
  invalid_request: fact(400, "caller", "无效的请求：{detail}", "Invalid request: {detail}"),
  model_missing: fact(400, "caller", "未指定模型名称", "No model was given"),
  insufficient_user_quota: fact(429, "caller", "用户额度不足，剩余额度：{balance}[，输出上限最多为 {tokens} 个 Token]", "Insufficient user quota; balance: {balance}[; that covers an output limit of {tokens} tokens]"),
  insufficient_token_quota: fact(429, "caller", "令牌额度不足，剩余额度：{balance}[，输出上限最多为 {tokens} 个 Token]", "Insufficient token quota; remaining: {balance}[; that covers an output limit of {tokens} tokens]"),
  model_price_missing: fact(500, "operator", "模型 {model} 的价格未设置，请联系管理员", "Model {model} has no price; please contact the administrator"),
  model_not_found: fact(404, "operator", "当前分组 {group} 下对于模型 {model} 无可用渠道", "The model {model} does not exist: group {group} has no channel for it"),
  model_unavailable: fact(503, "operator", "当前分组 {group} 下模型 {model} 的渠道均已停用", "Every channel of model {model} in group {group} is switched off"),
  channels_draining: fact(503, "operator", "当前分组 {group} 下模型 {model} 的渠道正在排空，不再接受新请求", "Every channel of model {model} in group {group} is being drained and takes no new calls"),
  channels_paused: fact(503, "operator", "可用渠道暂时均不可用，请 {retry_after_s} 秒后再试", "Every channel that could serve this is unavailable; try again in {retry_after_s} s"),
  member_unsupported: fact(400, "caller", "当前分组 {group} 下没有支持参数 {members} 的渠道（模型 {model}）", "No channel of model {model} in group {group} takes {members}; without it the request would mean something else"),
  channel_disabled: fact(403, "operator", "该渠道已被禁用", "This channel is disabled"),
  input_too_long: fact(400, "caller", "输入超过了所有可用渠道允许的长度（模型 {model}）", "The input is longer than any available channel allows (model {model})"),
  operation_unsupported: fact(404, "operator", "当前分组 {group} 下没有支持此接口的渠道（模型 {model}）", "No channel of model {model} in group {group} serves this endpoint"),
  quota_exhausted_midstream: fact(429, "caller", "额度已用尽，回答已中断", "The quota ran out; the answer was cut"),
  rate_limited_requests: fact(429, "caller", "{scope_zh}每分钟最多 {limit} 次请求，请 {retry_after_s} 秒后再试", "{scope_en} may make {limit} requests a minute; try again in {retry_after_s} s"),
  rate_limited_tokens: fact(429, "caller", "{scope_zh}每分钟最多使用 {limit} 个 Token，请 {retry_after_s} 秒后再试", "{scope_en} may use {limit} tokens a minute; try again in {retry_after_s} s"),
  rate_limited_concurrency: fact(429, "caller", "{scope_zh}最多同时进行 {limit} 个请求，请稍后再试", "{scope_en} may have {limit} calls running at once; try again when one has ended"),
  rate_limited_user: fact(429, "caller", "您的请求数已达到上限（{limit} 次），请 {retry_after_s} 秒后再试", "You have reached your limit of {limit} requests; try again in {retry_after_s} s"),
  budget_day_used_up: fact(429, "caller", "{scope_zh}今天的预算（{limit}）不足以支付本次请求，请明天再试", "{scope_en} has a budget of {limit} a day, and what is left of it does not cover this call; try again tomorrow"),
  budget_month_used_up: fact(429, "caller", "{scope_zh}本月的预算（{limit}）不足以支付本次请求，请下月再试", "{scope_en} has a budget of {limit} a month, and what is left of it does not cover this call; try again next month"),
  rate_limited_channels: fact(429, "operator", "可用渠道均已达到限额，请 {retry_after_s} 秒后再试", "Every channel that could serve this has reached its limit; try again in {retry_after_s} s"),

  sensitive_words_detected: fact(400, "caller", "请求内容包含屏蔽词，已被拒绝", "The request contains sensitive words and was refused"),
  upgrade_required: fact(426, "caller", "此接口需要 WebSocket 连接", "This endpoint needs a WebSocket connection"),
  realtime_expired: fact(408, "caller", "实时会话已达到时间上限（{phase}），连接将关闭", "The realtime session has reached its time limit ({phase}) and is closed"),

  api_not_implemented: fact(501, "caller", "不支持此接口：{method} {path}", "This endpoint is not offered here: {method} {path}"),

  upgrade_refused: fact(426, "caller", "此接口不支持 WebSocket，请使用 HTTP", "This endpoint is not served over WebSocket; use HTTP"),
  previous_response_not_found: fact(404, "caller", "找不到之前的响应 {id}", "Previous response with id '{id}' not found."),
  response_not_found: fact(404, "caller", "响应 {id} 不存在", "Response with id '{id}' not found."),
  item_not_found: fact(404, "caller", "找不到条目 {id}", "Item with id '{id}' not found."),
  response_not_streamable: fact(400, "caller", "只有后台响应才能重新以流的方式读取", "Only a background response can be streamed again"),
  response_not_cancellable: fact(400, "caller", "只有后台响应才能取消", "Only a background response can be cancelled"),
  background_unsupported: fact(400, "caller", "暂不支持 background: true", "background: true is not supported here"),
  files_unavailable: fact(403, "operator", "当前分组 {group} 下没有允许上传文件的渠道", "No channel of group {group} takes files"),
  file_not_found: fact(404, "caller", "文件 {id} 不存在", "No such File object: {id}"),
  files_full: fact(403, "caller", "您的文件总大小不能超过 {limit} MB", "Your files may have {limit} MB together"),
  batches_unavailable: fact(403, "operator", "该文件所在的渠道不允许批处理", "The channel of this file does not take batches"),
  batch_line_invalid: fact(400, "caller", "批处理文件第 {line} 行无效：{what}", "Line {line} of the batch's input is invalid: {what}"),
  batch_too_large: fact(400, "caller", "批处理文件最多 {lines} 行、{limit} MB", "A batch's input has at most {lines} lines and {limit} MB"),
  tasks_disabled: fact(403, "operator", "管理员关闭了此类任务", "The administrator has switched such jobs off"),
  incident_not_found: fact(404, "caller", "告警不存在", "No such incident"),
  alert_target_not_found: fact(404, "caller", "通知对象不存在", "No such alert target"),
  alert_target_invalid: fact(400, "caller", "通知对象不合法：{detail}", "The alert target is not valid: {detail}"),
  task_not_found: fact(404, "caller", "任务不存在", "No such task"),
  task_in_flight: fact(409, "caller", "相同 Idempotency-Key 的请求正在处理，请稍后再试", "A request with this Idempotency-Key is still being handled; try again later"),
  idempotency_key_reused: fact(422, "caller", "该 Idempotency-Key 已用于内容不同的请求，请刷新页面查看那次请求的结果", "This Idempotency-Key was used for a different request; reload to see what that one did", 422),
  task_not_cancellable: fact(400, "caller", "该任务不能取消", "This task cannot be cancelled"),
  task_not_finished: fact(400, "caller", "任务尚未完成", "The task is not finished"),
  task_file_missing: fact(404, "caller", "任务没有这个文件，或文件已过期", "The task has no such file, or it has expired"),
  batch_not_found: fact(404, "caller", "批处理 {id} 不存在", "No batch found with id '{id}'."),

  // Relay: the upstream's side
  upstream_unreachable: fact(502, "upstream", "无法连接上游服务", "The upstream could not be reached"),
  upstream_timeout: fact(504, "upstream", "上游服务超时（{phase}）", "The upstream timed out ({phase})"),
  upstream_malformed: fact(502, "upstream", "上游返回了无法解析的内容", "The upstream answered something that cannot be read"),
  upstream_cut: fact(502, "upstream", "上游连接中断", "The upstream closed the connection early"),
  // What OpenAI's clients act on is told under OpenAI's own codes.
  context_length_exceeded: fact(400, "caller", "输入超过了模型的上下文长度", "The input is longer than the model's context window"),
  request_too_large: fact(413, "caller", "请求体超过了上游的大小限制", "The request is larger than the upstream accepts"),
  content_filter: fact(400, "caller", "上游的内容审核拒绝了请求", "The upstream's content filter refused the request"),
  upstream_error: fact(502, "upstream", "上游服务返回错误（状态码 {status}）", "The upstream answered with an error (status {status})"),
} as const satisfies Record<string, ErrorFact>;

export type ErrorCode = keyof typeof errors;
export type ErrorValues = Record<string, string | number>;

/** The text of an error in a language, with its values filled in. */
export const errorText = (code: ErrorCode, values: ErrorValues, lang: Lang): string =>
  fillText(errors[code].text[lang], values);

/**
 * The errors that services throw. Anything else that is thrown becomes "internal" for the caller, whatever its message.
 */
export class AppError extends Error {
  override readonly name = "AppError";
  constructor(
    readonly code: ErrorCode,
    readonly values: ErrorValues = {},
    options?: ErrorOptions,
  ) {
    super(errorText(code, values, "en"), options);
  }
}

/** Throws an AppError; reads as a statement: `if (!row) fail("token_not_found")`. */
export function fail(code: ErrorCode, values?: ErrorValues, cause?: unknown): never {
  throw new AppError(code, values, cause === undefined ? undefined : { cause });
}
