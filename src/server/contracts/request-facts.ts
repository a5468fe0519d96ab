/** What a request says of the page that sent it. */

/** What a request says of the page that sent it. */
export interface RequestFacts {
  method: string;
  /** The Host header; "" when there is none. */
  host: string;
  /** What a trusted proxy says that Host was. */
  forwarded_host: string | undefined;
  origin: string | undefined;
  /** Sec-Fetch-Site, which browsers send over https and to localhost, and which no page can change. */
  fetch_site: string | undefined;
  /** It has a body that is not called JSON: a form of another site can send such a one. */
  foreign_body: boolean;
  /** It has the user-id header, which a page of another site cannot add. */
  named: boolean;
}
