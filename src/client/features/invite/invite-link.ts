/** `https://gateway.example/register?aff=CODE`; where the operator named no address, this page's own. */
export const inviteLink = (serverAddress: string, origin: string, code: string): string =>
  `${(serverAddress || origin).replace(/\/+$/, "")}/register?aff=${encodeURIComponent(code)}`;
