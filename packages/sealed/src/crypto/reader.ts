/** What a reader does with either link that opens a secret. */
import type { Content } from './content.ts'
import { deriveKeys, type SecretKeys } from './keys.ts'
import type { LinkTarget, OwnTarget } from './link.ts'
import { deriveOwnKeys, openRequested, type OwnKeys } from './request.ts'
import { openContent, type SealedBody } from './seal.ts'

/** A link that opens a secret: one that was sent, or the requester's own. */
export type ReaderTarget = (LinkTarget & { kind: 'secret' }) | OwnTarget

export type ReaderKeys = SecretKeys | OwnKeys

export function needsPassphrase(target: ReaderTarget): boolean {
  return target.kind === 'secret' && target.fragment.passphraseProtected
}

export function deriveReaderKeys(target: ReaderTarget, passphrase?: string): Promise<ReaderKeys> {
  return target.kind === 'own'
    ? deriveOwnKeys(target.fragment)
    : deriveKeys(target.fragment, passphrase)
}

/** Throws `cannot_open` if anything was changed. */
export function openSealed(
  keys: ReaderKeys,
  sealed: { id: string } & Pick<SealedBody, 'ciphertext' | 'iv'>,
): Promise<Content> {
  return 'privateKey' in keys ? openRequested(keys, sealed) : openContent(keys, sealed)
}
