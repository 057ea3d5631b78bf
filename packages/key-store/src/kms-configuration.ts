/** Which KMS keys a key store uses (branch key store 0.7.0, "AWS KMS Configuration"). */

export type KmsConfiguration =
  /** This key and no other. */
  | { kind: 'kmsKeyArn'; arn: string }
  /** This multi-Region key, or a replica of it. */
  | { kind: 'kmsMRKeyArn'; arn: string }
  /** Whichever key an item names. Cannot make keys. */
  | { kind: 'discovery' }
  /** Whichever key an item names; of a multi-Region key the replica in this region. */
  | { kind: 'mrDiscovery'; region: string }
