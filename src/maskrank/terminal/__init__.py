"""What a terminal shows: rankings, tables, progress bars, and text made safe for it. HTML is in `report`."""
