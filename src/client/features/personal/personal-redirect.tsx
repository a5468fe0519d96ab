import { Redirect } from "wouter";

/** `/personal`, where older consoles had these settings. */
export default function PersonalRedirect() {
  return <Redirect to="/setting?tab=personal" replace />;
}
