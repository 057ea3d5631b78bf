import { twoKeyService } from '@strongroom/two-key/service'
import { serviceHandler } from '../service-handler.ts'

export const handler = serviceHandler('two-key-installations', twoKeyService)
