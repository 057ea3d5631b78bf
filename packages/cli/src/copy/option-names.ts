/** Messages of stores and KMS name settings; the settings of each side are options here. */
import { Failure } from '@strongroom/kit/errors'
import { MasterKeyError } from '@strongroom/kms/master-key/errors'

export type SideName = 'from' | 'to'

const OPTIONS: readonly (readonly [setting: string, option: string])[] = [
  ['STRONGROOM_STORE=aws', '--SIDE aws'],
  ['STRONGROOM_MASTER_KEY_FILE', '--SIDE-master-key'],
  ['STRONGROOM_TABLE_PREFIX', '--SIDE-prefix'],
  ['STRONGROOM_DATA', '--SIDE'],
  ['STRONGROOM_KMS=aws', '--SIDE-kms aws'],
  ['STRONGROOM_KMS', '--SIDE-kms'],
  ['DYNAMODB_ENDPOINT', '--SIDE'],
  ['KMS_ENDPOINT', '--SIDE-kms'],
  ['KMS_KEY_ARN', '--SIDE-key'],
]

export async function inOptions<T>(side: SideName, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Failure || error instanceof MasterKeyError)) throw error
    let { message } = error
    for (const [setting, option] of OPTIONS)
      message = message.replaceAll(setting, option.replace('SIDE', side))
    const code = error instanceof Failure ? error.code : 'failed'
    throw new Failure(code, message, { cause: error })
  }
}
