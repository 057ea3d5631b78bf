/** How long things live, in seconds, as the specification sets it. */
const day = 86_400

export const lifetimes = {
  registration: 3600,
  /** Of rate buckets, counted from the end of the bucket. */
  rateBucket: day,
  registrationRateBucket: 300,
  validation: day,
  versionCache: 7200,
  updateCheck: 90 * day,
  securityEvent: 30 * day,
  abuse: { low: day, medium: 7 * day, high: 30 * day, critical: 90 * day },
  /** Twice the 300 seconds by which a signed request may be off. */
  nonce: 600,
  /** After this an upload that was not finished may be begun anew by somebody else. */
  packageUpload: 900,
} as const
