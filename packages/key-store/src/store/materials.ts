/** Keys in the clear, as the key store hands them out, and where they come from. */

export interface BranchKeyMaterials {
  branchKeyIdentifier: string
  /** A UUID, without the prefix `branch:version:`. */
  branchKeyVersion: string
  /** 32 bytes, the caller's own copy: wipe it when done. */
  branchKey: Uint8Array
  /** The custom pairs, without the prefix `aws-crypto-ec:`. */
  encryptionContext: Record<string, string>
}

export interface BeaconKeyMaterials {
  beaconKeyIdentifier: string
  /** 32 bytes, the caller's own copy: wipe it when done. */
  beaconKey: Uint8Array
  encryptionContext: Record<string, string>
}

/** What decrypts and encrypts under branch keys needs no more than this. */
export interface BranchKeySource {
  getActiveBranchKey(input: { branchKeyIdentifier: string }): Promise<BranchKeyMaterials>
  getBranchKeyVersion(input: {
    branchKeyIdentifier: string
    branchKeyVersion: string
  }): Promise<BranchKeyMaterials>
}
