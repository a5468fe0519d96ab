import type { PaymentForm } from "../../../shared/order";

/** Posts the gateway's form in a window of its own, so that the wallet stays and can wait for the result. */
export function postForm({ url, data }: PaymentForm): void {
  const form = document.createElement("form");
  form.method = "POST";
  form.action = url;
  form.target = "_blank";
  form.hidden = true;
  for (const [name, value] of Object.entries(data)) {
    const field = document.createElement("input");
    field.type = "hidden";
    field.name = name;
    field.value = value;
    form.append(field);
  }
  document.body.append(form);
  // A field may be called "submit".
  HTMLFormElement.prototype.submit.call(form);
  form.remove();
}
