import { keyStoreService } from '@strongroom/key-store/service'
import { serviceHandler } from '../service-handler.ts'

export const handler = serviceHandler('key-store', keyStoreService)
