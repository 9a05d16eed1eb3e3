<?php
// A command that writes into the database.

namespace App\Console\Commands;

use App\Models\Note;
use Illuminate\Console\Command;

class AddNote extends Command
{
    protected $signature = 'notes:add {text}';

    protected $description = 'Writes a note';

    public function handle()
    {
        $note = Note::create(['text' => $this->argument('text')]);
        $this->info("Note {$note->text} is written");

        return 0;
    }
}
