/** Plans: how long each retains events, and its limits. */
export const plans = ['free', 'starter', 'pro', 'team'] as const
export type Plan = (typeof plans)[number]

/** Seconds from the receipt of an event to its expiry. */
export const retentionSeconds: Readonly<Record<Plan, number>> = {
  free: 86_400,
  starter: 604_800,
  pro: 2_592_000,
  team: 7_776_000,
}

/** The epoch second at which an event expires. */
export function expiryOf(receivedAt: number, plan: Plan): number {
  return Math.floor(receivedAt / 1000) + retentionSeconds[plan]
}

export interface PlanLimits {
  eventsPerMinute: number
  eventsPerMonth: number
  /** Whether events over the monthly limit are rejected; otherwise they are accepted and flagged. */
  refusesBeyondMonth: boolean
  sources: number
  connectionsPerSource: number
}

/** `eventsPerMinute` applies to each source. */
export const planLimits: Readonly<Record<Plan, PlanLimits>> = {
  free: {
    eventsPerMinute: 100,
    eventsPerMonth: 5_000,
    refusesBeyondMonth: true,
    sources: 3,
    connectionsPerSource: 2,
  },
  starter: {
    eventsPerMinute: 500,
    eventsPerMonth: 100_000,
    refusesBeyondMonth: false,
    sources: 10,
    connectionsPerSource: 5,
  },
  pro: {
    eventsPerMinute: 2_000,
    eventsPerMonth: 1_000_000,
    refusesBeyondMonth: false,
    sources: 50,
    connectionsPerSource: 20,
  },
  team: {
    eventsPerMinute: 10_000,
    eventsPerMonth: 5_000_000,
    refusesBeyondMonth: false,
    sources: 200,
    connectionsPerSource: 50,
  },
}
