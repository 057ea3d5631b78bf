/**
 * Secrets of the server itself, such as the keys that sign tokens and seal cursors: 32 random bytes
 * each, made once, kept in `strongroom-server` sealed by KMS, rotated with overlap.
 */
export interface ServerSecrets {
  /** The newest version: what is made now is made with this one. Made on the first call. */
  current(name: string): Promise<ServerSecret>
  /** Every version that is still honoured, the newest first: what comes back is checked with these. */
  accepted(name: string): Promise<readonly ServerSecret[]>
}

export interface ServerSecret {
  version: number
  key: Uint8Array
}
