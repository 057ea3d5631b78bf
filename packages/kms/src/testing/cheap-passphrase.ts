import { changePassphrase } from '../master-key/file.ts'

/** A thousandth of what a try costs otherwise; files say themselves what it is. */
const cost = { N: 2 ** 7, r: 8, p: 1 }

/** Protects a master key file by a passphrase that is quick to try, for tests that try it often. */
export function protectCheaply(path: string, passphrase: string, present?: string): Promise<void> {
  return changePassphrase(path, { from: present, to: passphrase, cost })
}
