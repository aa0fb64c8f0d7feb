// The panels of the drawer, in the order of their tabs.
import type { PanelMaker } from "../view";
import { AnalysesPanel } from "./analyses";
import { CriticalPathPanel } from "./criticalPath";
import { DisksPanel } from "./disks";
import { EventsPanel } from "./events";
import { FlowsPanel } from "./flows";
import { LatencyPanel } from "./latency";
import { LivesPanel } from "./lives";
import { LossesPanel } from "./losses";
import { MatchesPanel } from "./matches";
import { MessagesPanel } from "./messages";
import { ResourcesPanel } from "./resources";
import { ServicesPanel } from "./servicesPanel";
import { SqlPanel } from "./sql";
import { StatePanel } from "./state";
import { StatisticsPanel } from "./statistics";
import { SynchronizationPanel } from "./synchronization";
import { UsagePanel } from "./usage";

const ALL = [StatePanel, FlowsPanel, CriticalPathPanel, LatencyPanel, ServicesPanel, StatisticsPanel, UsagePanel, ResourcesPanel, LivesPanel, DisksPanel, MatchesPanel, EventsPanel, MessagesPanel, LossesPanel, SynchronizationPanel, AnalysesPanel, SqlPanel];
export const panels: PanelMaker[] = ALL.map((Made) => (view, navigator) => new Made(view, navigator));
