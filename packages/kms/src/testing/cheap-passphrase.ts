import { changePassphrase } from '../master-key/file.ts'

/** A thousandth of the usual cost; files record their own cost. */
const cost = { N: 2 ** 7, r: 8, p: 1 }

/** Protects a master key file by a passphrase that is cheap to try, for tests. */
export function protectCheaply(path: string, passphrase: string, present?: string): Promise<void> {
  return changePassphrase(path, { from: present, to: passphrase, cost })
}
