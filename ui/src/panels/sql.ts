// Questions in SQL, which `isochrone-sql` answers for the server: a table, whose lines go to their rows and instants; all of it as rows of the graph, and as marks on the strip.
// Talks to: api, view. Used by: the drawer.
import { api, type CellValue } from "../api";
import { button, h } from "../dom";
import { formatCount } from "../format";
import type { Navigator, View } from "../view";
import { columnTitle } from "./cells";
import { notice } from "./notice";
import { AskingPanel } from "./panel";
import { sqlTable, type SqlTable } from "./sqlRows";
import { DataTable } from "./table";
import { rowOfLine, toShown } from "./times";

type Line = readonly CellValue[];
const EXAMPLES: readonly (readonly [string, string])[] = [
  ["who ran most", "SELECT host, tid, comm, sum(duration_ns) AS cpu_ns FROM slices JOIN threads USING (host, thread) GROUP BY host, tid, comm ORDER BY cpu_ns DESC LIMIT 50"],
  ["longest calls", "SELECT host, tid, comm, name, begin_time, end_time, duration_ns FROM syscalls ORDER BY duration_ns DESC LIMIT 100"],
  ["failed calls", "SELECT host, comm, name, errno_name(ret) AS error, count(*) AS count FROM syscalls WHERE ret < 0 GROUP BY 1, 2, 3, 4 ORDER BY count DESC"],
  ["segments that were sent again", "SELECT host, max(cpu) AS cpu, source_port, destination_port, seq, payload AS payload_bytes, count(*) AS times, min(time) AS sent_time, max(time) AS again_time, CAST(max(time) AS BIGINT) - CAST(min(time) AS BIGINT) AS after_ns FROM packet_flows WHERE is_sent AND protocol = 6 AND payload > 0 GROUP BY host, source, source_port, destination, destination_port, seq, payload HAVING count(*) > 1 ORDER BY after_ns DESC"],
  ["tables", "SHOW TABLES"],
];
const KEPT = "isochrone.sql";

export class SqlPanel extends AskingPanel {
  private readonly text = h("textarea", { class: "sql-text", rows: 3, "aria-label": "A question in SQL", placeholder: "SELECT … (Ctrl and Enter asks)", spellcheck: "false" });
  private readonly examples = h("select", { "aria-label": "Examples", onchange: () => this.example() }, h("option", { value: "" }, "examples"), ...EXAMPLES.map(([name], place) => h("option", { value: place }, name)));
  private readonly count = h("span", { class: "muted" });
  private readonly asRows = button("as rows", "Show only the rows of the graph that lines are about", () => this.showRows(), { disabled: true });
  private readonly asMarks = button("as marks", "Mark the first instants of lines on the strip", () => this.showMarks(), { disabled: true, "aria-pressed": "false" });
  private readonly result = h("div", { class: "sql-result" });
  private readonly parts = h("div", { class: "sql-parts" }, this.text, this.result);
  private answer: SqlTable = { columns: [], rows: [] };
  private table: DataTable<Line> | null = null;
  /** What was asked last. */
  private asked = "";

  constructor(view: View, navigator: Navigator) {
    super("sql", "SQL", view, navigator, []);
    this.text.value = localStorage.getItem(KEPT) ?? EXAMPLES[0]![1];
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { void this.askNow(); event.preventDefault(); }
      if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
    });
    this.controls.append(button("ask", "Ask (Ctrl and Enter)", () => void this.askNow()), this.examples, this.asRows, this.asMarks, this.count);
    this.result.append(notice("empty", "Ask in SQL", "The tables are those of `isochrone sql`: `SHOW TABLES` lists them, `DESCRIBE syscalls` the columns of one. What only reads is answered, by the program `isochrone-sql` on the machine of the server."));
  }
  get kept(): string { return this.asked; }
  keep(text: string): void {
    if (text === "") return;
    this.text.value = this.asked = text;
    if (this.isSeen) void this.ask();
  }
  protected forget(): void { this.view.set({ marks: null }); this.asMarks.setAttribute("aria-pressed", "false"); }
  protected override renewed(): void { /* It is asked when it is asked. */ }
  private async askNow(): Promise<void> {
    this.asked = this.text.value.trim();
    localStorage.setItem(KEPT, this.asked);
    this.tellKept();
    await this.ask();
  }
  protected async load(signal: AbortSignal): Promise<void> {
    if (this.body.firstChild !== this.parts) this.body.replaceChildren(this.parts);
    if (this.asked === "") return;
    const answer = await api.sql(this.asked, signal).catch((error: unknown) => {
      if (!(error instanceof Error) || error.name === "AbortError") throw error;
      return error;
    });
    if (answer instanceof Error) {
      this.command.set("");
      this.set({ columns: [], rows: [] });
      this.count.textContent = "";
      this.result.replaceChildren(notice("failed", "There is no answer", answer.message));
      return;
    }
    this.command.set(answer.command);
    this.set(sqlTable(answer, this.origin ?? "0"));
    this.count.textContent = `${answer.is_whole ? "" : "the first "}${formatCount(answer.rows.length)} ${answer.rows.length === 1 ? "row" : "rows"}`;
  }
  private set(answer: SqlTable): void {
    this.answer = answer;
    this.asRows.disabled = !answer.columns.some((it) => it.name === "host");
    this.asMarks.disabled = !answer.columns.some((it) => it.unit === "time");
    if (this.asMarks.getAttribute("aria-pressed") === "true") this.view.set({ marks: this.asMarks.disabled ? null : this.instants() });
    this.table = answer.rows.length === 0 ? null : new DataTable<Line>({
      label: "Answer: a click goes to the row and the instant of a line", origin: () => this.origin, pick: (line) => this.go(line, false), open: (line) => this.go(line, true),
      columns: answer.columns.map((column, place) => ({
        title: columnTitle(column.name), description: column.name, unit: column.unit, value: (line: Line) => line[place] ?? null, isNumber: column.unit !== "none" || answer.rows.every((line) => line[place] === null || typeof line[place] === "number"),
      })),
    });
    this.result.replaceChildren(...(this.table === null ? [notice("empty", "No rows", "")] : [h("div", { class: "block-head" }, this.table.copy), this.table.element]));
    this.table?.set(answer.rows);
  }
  private value(line: Line, name: string): CellValue { return line[this.answer.columns.findIndex((it) => it.name === name)] ?? null; }
  private times(line: Line): number[] { return this.answer.columns.flatMap((it, place) => (it.unit === "time" && typeof line[place] === "number" ? [line[place]] : [])); }
  private rowOf(line: Line): number | null { return rowOfLine(this.view, (name) => this.value(line, name), this.times(line)[0] ?? null); }
  private instants(): number[] { return this.answer.rows.flatMap((line) => { const [at] = this.times(line); return at === undefined ? [] : [toShown(this.view, this.rowOf(line), at)]; }); }
  private go(line: Line, isZoomed: boolean): void {
    const row = this.rowOf(line), times = this.times(line).map((at) => toShown(this.view, row, at)), { window } = this.view.now, begin = Math.min(...times), end = Math.max(...times);
    if (times.length === 0) { this.navigator.go(row, (window.begin + window.end) / 2); return; }
    const room = Math.max(end - begin, 1000) * 0.5;
    this.navigator.go(row, begin, isZoomed ? { begin: begin - room, end: end + room } : undefined);
    this.view.set(end > begin ? { selection: { begin, end } } : { hover: begin });
  }
  private showRows(): void {
    const rows = new Set(this.answer.rows.map((line) => this.rowOf(line)).filter((row) => row !== null));
    this.view.set({ onlyRows: rows.size > 0 ? rows : null });
  }
  private showMarks(): void {
    const isOn = this.asMarks.getAttribute("aria-pressed") !== "true";
    this.asMarks.setAttribute("aria-pressed", String(isOn));
    this.view.set({ marks: isOn ? this.instants() : null });
  }
  private example(): void {
    const example = EXAMPLES[Number(this.examples.value)];
    if (this.examples.value !== "" && example !== undefined) this.text.value = example[1];
    this.examples.value = "";
    this.text.focus();
  }
}
