/** The plans, and for how long each keeps an event. */
export const plans = ['free', 'starter', 'pro', 'team'] as const
export type Plan = (typeof plans)[number]

/** Seconds from the receipt of an event to its expiry. */
export const retentionSeconds: Readonly<Record<Plan, number>> = {
  free: 86_400,
  starter: 604_800,
  pro: 2_592_000,
  team: 7_776_000,
}

/** The epoch second at which an event received now may be deleted. */
export function expiryOf(receivedAt: number, plan: Plan): number {
  return Math.floor(receivedAt / 1000) + retentionSeconds[plan]
}
