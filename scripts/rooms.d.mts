export interface Room {
  pure?: boolean;
  imports: string[];
}
export const rooms: Record<string, Room>;
export const above: Record<string, string[]>;
export const pureFolders: string[];
export const ambientRooms: string[];
export function mayWait(file: string): boolean;
export interface InnerWalls {
  shared: string[];
  below?: string;
  node?: string[];
  folders: Record<string, string[]>;
}
export const inner: Record<string, InnerWalls>;
