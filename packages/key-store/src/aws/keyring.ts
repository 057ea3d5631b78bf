/**
 * Adapts a key store for the `keyStore` option of AWS's `KmsHierarchicalKeyRingNode`
 * (`@aws-crypto/client-node`). Its `cache` is in `keyring-cache.ts`; with or without it, a branch key
 * from here is never wiped while a caller may still use it.
 *
 * The user installs AWS's packages; only this folder needs them.
 */
import { BranchKeyStoreNode } from '@aws-crypto/branch-keystore-node'
import { NodeBranchKeyMaterial } from '@aws-crypto/material-management'
import type { KeyStore } from '../store/key-store.ts'
import type { KmsConfiguration } from '../store/kms-configuration.ts'
import type { BranchKeyMaterials, BranchKeySource } from '../store/key-store.ts'

type AwsOptions = ConstructorParameters<typeof BranchKeyStoreNode>[0]

/**
 * `keyStore` creates and rotates keys; they are read from `branchKeys`. With `cachedBranchKeys`,
 * concurrent readers share one call to KMS.
 */
export function awsBranchKeyStore(
  keyStore: KeyStore,
  branchKeys: BranchKeySource = keyStore,
): BranchKeyStoreNode {
  const info = keyStore.getKeyStoreInfo()

  // The keyring requires an instance of this class, which freezes itself and so has no own state.
  class Adapter extends BranchKeyStoreNode {
    override async getActiveBranchKey(branchKeyIdentifier: string) {
      return materialOf(await branchKeys.getActiveBranchKey({ branchKeyIdentifier }))
    }

    override async getBranchKeyVersion(branchKeyIdentifier: string, branchKeyVersion: string) {
      const wanted = { branchKeyIdentifier, branchKeyVersion }
      return materialOf(await branchKeys.getBranchKeyVersion(wanted))
    }

    override createKey(input?: Parameters<KeyStore['createKey']>[0]) {
      return keyStore.createKey(input)
    }

    override async versionKey(input: Parameters<KeyStore['versionKey']>[0]) {
      await keyStore.versionKey(input)
    }
  }

  return new Adapter({
    logicalKeyStoreName: info.logicalKeyStoreName,
    keyStoreId: info.keyStoreId,
    kmsConfiguration: awsConfiguration(info.kmsConfiguration),
    keyManagement: { grantTokens: [...info.grantTokens] },
    storage: {
      getEncryptedActiveBranchKey: neverCalled,
      getEncryptedBranchKeyVersion: neverCalled,
      getKeyStorageInfo: () => ({ name: info.keyStoreName, logicalName: info.logicalKeyStoreName }),
    },
  })
}

function materialOf(materials: BranchKeyMaterials): NodeBranchKeyMaterial {
  const { buffer, byteOffset, length } = materials.branchKey
  try {
    // The constructor copies the key.
    return withoutWiping(
      new NodeBranchKeyMaterial(
        Buffer.from(buffer, byteOffset, length),
        materials.branchKeyIdentifier,
        materials.branchKeyVersion,
        materials.encryptionContext,
      ),
    )
  } finally {
    materials.branchKey.fill(0)
  }
}

/**
 * AWS's own cache wipes a key when it is replaced, although concurrent callers have it and are about to
 * encrypt: their messages would be encrypted under a key of zeros. The garbage collector frees this one.
 * AWS's class freezes its instances and resets their prototype, so a subclass cannot override the method.
 */
function withoutWiping(material: NodeBranchKeyMaterial): NodeBranchKeyMaterial {
  const kept = Object.create(material, {
    zeroUnencryptedDataKey: { value: () => kept },
  }) as NodeBranchKeyMaterial
  Object.freeze(kept)
  return kept
}

function awsConfiguration(configuration: KmsConfiguration): AwsOptions['kmsConfiguration'] {
  if (configuration.kind === 'kmsKeyArn') return { identifier: configuration.arn }
  if (configuration.kind === 'kmsMRKeyArn') return { mrkIdentifier: configuration.arn }
  if (configuration.kind === 'mrDiscovery') return { region: configuration.region }
  return 'discovery'
}

/** Never called, because all methods that use it are overridden. */
async function neverCalled(): Promise<never> {
  throw new TypeError('Cannot read encrypted keys here: use the key store')
}
