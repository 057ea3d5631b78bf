/**
 * AWS's hierarchical keyring on this key store: hand both to `KmsHierarchicalKeyRingNode` of
 * `@aws-crypto/client-node` as `keyStore` and `cache`, with `utf8Sorting: true`.
 *
 * The packages of AWS are the caller's; nothing else here needs them.
 */
import { BranchKeyStoreNode } from '@aws-crypto/branch-keystore-node'
import type { KmsHierarchicalKeyRingNode } from '@aws-crypto/client-node'
import { NodeBranchKeyMaterial } from '@aws-crypto/material-management'
import { type Clock, systemClock } from '@strongroom/kit/clock'
import type { KeyStore } from './key-store.ts'
import type { KmsConfiguration } from './kms-configuration.ts'
import type { BranchKeyMaterials, BranchKeySource } from './materials.ts'

/** AWS's kind of key store, which makes, rotates and reads keys through this one. */
export function awsBranchKeyStore(
  keyStore: KeyStore,
  /** Where keys are read: `cachedBranchKeys` asks KMS once, however many read at the same time. */
  branchKeys: BranchKeySource = keyStore,
): BranchKeyStoreNode {
  const info = keyStore.getKeyStoreInfo()

  // The keyring insists on this class. It freezes itself, hence what it needs is in the closure.
  class Adapter extends BranchKeyStoreNode {
    override async getActiveBranchKey(branchKeyIdentifier: string) {
      return materialOf(await branchKeys.getActiveBranchKey({ branchKeyIdentifier }))
    }

    override async getBranchKeyVersion(branchKeyIdentifier: string, branchKeyVersion: string) {
      return materialOf(
        await branchKeys.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion }),
      )
    }

    override createKey: BranchKeyStoreNode['createKey'] = (input) => keyStore.createKey(input)
  }

  return new Adapter({
    logicalKeyStoreName: info.logicalKeyStoreName,
    kmsConfiguration: awsConfiguration(info.kmsConfiguration),
    keyStoreId: info.keyStoreId,
    storage: {
      getEncryptedActiveBranchKey: notAsked,
      getEncryptedBranchKeyVersion: notAsked,
      getKeyStorageInfo: () => ({ name: info.keyStoreName, logicalName: info.logicalKeyStoreName }),
    },
  })
}
