/** Values and limits of events. Without schemas, because commands list them in their help. */
export const eventStatuses = [
  'received',
  'processing',
  'filtered',
  'delivered',
  'retrying',
  'failed',
  'held',
  'unrouted',
  'signature_failed',
] as const

export const MAX_BODY_BYTES = 262_144
