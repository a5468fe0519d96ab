import { QuietHours } from "./quiet-hours";
import { RulesTable } from "./rules-table";

/** The fields of alerts that are more than one value: rules and quiet hours. */
export default function AlertFields() {
  return (
    <>
      <RulesTable />
      <QuietHours />
    </>
  );
}
