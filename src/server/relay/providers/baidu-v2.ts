/**
 * Baidu Qianfan, generation 2: OpenAI's format. Models with the suffix -search are called with web search on
 * (cloud.baidu.com/doc/qianfan-api/s/3m7of64lb: web_search; read November 2026).
 */
import { withoutSearch } from "../../../shared/thinking-suffix";
import { isObject, tryParse, withMembers } from "../../lib/json-bytes";
import { ordinary } from "./ordinary";
import type { Provider } from "./provider";

export const baiduV2: Provider = {
  ...ordinary,
  prepare(outgoing) {
    const { model, operation, body } = outgoing;
    const searched = withoutSearch(model);
    if (operation !== "chat" || searched === undefined) return outgoing;
    const parsed = tryParse(body);
    const web_search = (isObject(parsed) && parsed.web_search) || {
      enable: true,
      enable_citation: true,
      enable_trace: true,
    };
    return { ...outgoing, body: withMembers(body, { model: searched, web_search }) };
  },
};
