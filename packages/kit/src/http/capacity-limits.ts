/** The limits of `capacity.ts`. Apart from it, because settings have them as defaults and every command loads the settings. */
export interface CapacityLimits {
  maxConnections: number
  /** From one address that is not a trusted proxy. */
  maxConnectionsPerAddress: number
  /** Bytes of request bodies that were read and whose requests are still running. */
  maxBodyBytes: number
  /** Running requests of each service. */
  maxRequests: number
  /**
   * Those of hot routes that have their body. They wait for nothing but the CPU and the store, so more of
   * them would only wait longer.
   */
  maxHotRequests: number
}

export const defaultLimits: CapacityLimits = {
  maxConnections: 1_024,
  maxConnectionsPerAddress: 64,
  maxBodyBytes: 64 * 1024 * 1024,
  maxRequests: 1_000,
  maxHotRequests: 256,
}
