/** The kinds of alerts. Without schemas, because commands list them in their help. */
export const alertKinds = [
  'delivery.failed',
  'connection.warning',
  'connection.paused',
  'connection.circuit_opened',
  'connection.circuit_closed',
  'limit.reached',
] as const
