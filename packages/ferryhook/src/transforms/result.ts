/** What a transform makes of an event. */

export type TransformResult = (Transformed | Dropped) & {
  /** What a script wrote to its console. */
  console?: readonly string[]
}

export interface Transformed {
  body: Uint8Array
  contentType?: string
  /** To be sent in place of others of the same names, which are in lower case. */
  headers?: Readonly<Record<string, string>>
  dropped?: never
}

/** The event ends here, as one that was filtered. */
export interface Dropped {
  dropped: true
  reason: string
}
