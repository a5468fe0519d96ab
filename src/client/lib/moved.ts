/** A list with one of its items moved by one place. */
export function moved<Item>(items: readonly Item[], from: number, by: 1 | -1): Item[] {
  const order = [...items];
  const item = order.splice(from, 1);
  order.splice(from + by, 0, ...item);
  return order;
}
