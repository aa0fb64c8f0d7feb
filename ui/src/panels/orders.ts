// In which order tables are that a reader sorted: in the address, and the same again. Talks to: none. Used by: tables (their orders), main (the address).
/** By which column a table is sorted, and whether the largest are on top. */
export interface Order { readonly column: string; readonly isDown: boolean }
/** By the names of tables. */
export type Orders = Readonly<Record<string, Order>>;

let orders: Orders = {}, version = 0;
const watchers = new Set<() => void>();

/** What a table is called, of its label: what a click does there is none of its name. */
export function nameOfTable(label: string): string { return label.split(": ")[0]!; }
export function orderOf(table: string): Order | undefined { return orders[table]; }
/** A reader sorts a table. */
export function sorted(table: string, order: Order): void {
  orders = { ...orders, [table]: order };
  for (const watcher of watchers) watcher();
}
/** The orders that readers chose; other ones are those of an address, which tables see by `ordersVersion`. */
export function chosenOrders(): Orders { return orders; }
export function setOrders(asked: Orders): void {
  if (JSON.stringify(asked) === JSON.stringify(orders)) return;
  orders = asked;
  version += 1;
  for (const table of document.querySelectorAll(".table")) table.dispatchEvent(new Event(REORDERED));
}
export function ordersVersion(): number { return version; }
/** Tables that are seen are told that the orders are others. */
export const REORDERED = "reordered";
export function watchOrders(watcher: () => void): void { watchers.add(watcher); }
