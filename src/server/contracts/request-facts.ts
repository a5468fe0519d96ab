/** The facts in a request's headers about the page that sent it. */
export interface RequestFacts {
  method: string;
  /** The Host header; "" when there is none. */
  host: string;
  /** The Host that a trusted proxy reports. */
  forwarded_host: string | undefined;
  origin: string | undefined;
  /** Sec-Fetch-Site, which browsers send over https and to localhost, and which no page can change. */
  fetch_site: string | undefined;
  /** It has a body whose type is not JSON: a form on another site can send one. */
  foreign_body: boolean;
  /** It has the user-id header, which a page of another site cannot add. */
  named: boolean;
}
